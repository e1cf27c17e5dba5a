"""The lab: every strategy on the same labelled web, between chance and the best possible order.

`orders.py` and `measures.py` are pure logic. `survey.py` reads a web as crawlers see it, `plan.py` plans the crawls,
`crawls.py` runs them, and `tables.py`, `charts.py`, `advice.py` and `report.py` present the results.
"""
