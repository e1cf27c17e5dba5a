"""The lab: every strategy on the same labelled web, between chance and the best possible order.

`orders.py` and `measures.py` are pure logic; `survey.py` reads a web as crawlers see it, `plan.py` says which crawls a
comparison is made of, `crawls.py` runs them, `tables.py`, `charts.py`, `advice.py` and `report.py` tell how they went.
"""
