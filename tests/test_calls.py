"""A page costs a stated number of function calls: a feature that walks every page once more fails here."""

import pytest

from benchmarks import calls

#: Calls per page of best_first, 60 links: raise a number only with the reason for it.
BUDGET = {
    "reading": 3_000,
    "manners": 620,
    "storing": 870,  # links share equal reasons, and blocks of text are compared with those of the host
    "words and judge": 510,
    "frontier": 610,
    "spider and middlewares": 250,
    "the rest": 60,
}


@pytest.mark.slow
def test_a_page_stays_within_its_budget_of_calls():
    found = calls.per_page("best_first").by_component
    over = {name: (round(number), BUDGET.get(name)) for name, number in found.items()
            if name != calls.SCRAPY and number > BUDGET[name]}  # fmt: skip
    assert not over, "calls per page, and the budget: `python benchmarks/calls.py` shows all"
