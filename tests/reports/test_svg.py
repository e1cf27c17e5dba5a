"""Drawings: what is written is XML, says what it was given, and has axes that people can read."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from focuscrawl.reports import svg
from focuscrawl.reports.report import chart

SVG = "{http://www.w3.org/2000/svg}"


def draw(series, **options):
    looks = {name: svg.style(place) for place, name in enumerate(series)}
    options = {"x_label": "pages", "y_label": "found", "standalone": True, **options}
    return ET.fromstring(svg.curve_chart(series, looks, **options))


def words(root) -> list[str]:
    return [element.text for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("top", "whole", "expected"),
    [
        (300, True, [0, 100, 200, 300]),
        (187, True, [0, 50, 100, 150]),
        (3, True, [0, 1, 2, 3]),
        (1, True, [0, 1]),
        (1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (1_234_567, True, [0, 500_000, 1_000_000]),
    ],
)
def test_axes_have_round_numbers(top, whole, expected):
    assert svg.ticks(top, whole=whole) == pytest.approx(expected)


def test_names_and_attributes_are_escaped():
    root = draw({'<b> & "c"': [1, 2, 3]}, y_label="<found>", legend="beside")
    assert '<b> & "c"' in words(root)
    assert root.find(f"{SVG}polyline/{SVG}title").text == '<b> & "c"'
    assert root.get("aria-label") == "<found> over pages"
    assert ET.fromstring(svg.element("line", class_='"><script>', x1=1.0)).attrib == {"class": '"><script>', "x1": "1"}


def test_counts_have_no_fractions_on_their_axis():
    assert words(draw({"a": [0, 1, 1]})) == ["found", "0", "1", "1", "2", "3", "pages"]
    assert "0.2" in words(draw({"a": [0.0, 1.0, 1.0]}))


def test_points_can_be_spread_over_a_length():
    root = draw({"a": [1.0, 2.0, 3.0, 4.0]}, x_end=2.5, x_label="hours")
    assert {"0.5", "1", "1.5", "2", "2.5", "hours"} <= {*words(root)}
    line = root.find(f"{SVG}polyline").get("points").split()
    xs = [float(point.split(",")[0]) for point in line]
    assert xs == [
        float(point.split(",")[0]) for point in draw({"a": [1, 2, 3, 4]}).find(f"{SVG}polyline").get("points").split()
    ]


def test_a_curve_ends_at_its_last_point_however_long_it_is():
    line = draw({"a": list(range(10_001)), "b": [5]}).find(f"{SVG}polyline").get("points").split()
    assert len(line) < 400
    width, top = svg.WIDTH, 28
    x, y = map(float, line[-1].split(","))
    assert width - 20 < x < width
    assert y == top


def test_all_curves_and_their_legend_lie_inside_the_drawing():
    series = {f"spider {number}": [number, 2 * number] for number in range(30)}
    for legend in ("beside", None):
        root = draw(series, legend=legend)
        _, _, width, height = map(float, root.get("viewBox").split())
        for element in root.iter():
            assert 0 <= float(element.get("y", 0)) <= height
            assert 0 <= float(element.get("x2", 0)) <= width
    assert [svg.style(place) for place in range(24)] == list(dict.fromkeys(svg.style(place) for place in range(24)))


def test_a_report_without_relevant_pages_says_so():
    assert chart({}, "relevant pages") == "<p>No relevant pages yet.</p>"
    assert chart({"a": [0, 0]}, "relevant pages") == "<p>No relevant pages yet.</p>"
    drawn = chart({"a": [0, 1], "b": [1, 2]}, "relevant pages")
    assert "xmlns" not in drawn  # it takes font and width from the page
    assert drawn.count("<polyline") == 2
