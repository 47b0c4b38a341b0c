import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from toolkit.report.axes import ticks, wrap
from toolkit.report.svg import bars, heat_map, line_chart, reliability_diagram, standalone

NASTY = """<script>alert("1")</script> & 'x' \x00\ud800"""
NAN = math.nan


def plots(name="a"):
    return {
        "line": line_chart(
            {name: [(0, 0.2), (40, 0.5)], f"{name} too": [(40, 0.6)]},
            title=name, x_label=name, y_label=name, references={name: 0.7}, share=True, whole_x=True,
        ),
        "reliability": reliability_diagram([0.2, 0.8], [0.3, 0.6], [5, 1200], title=name),
        "bars": bars({name: 3.0, "b": 61.0}, title=name),
        "heat": heat_map([name, "-"], [name, "*"], [[1, 2], [3, NAN]], title=name, row_label=name),
    }  # fmt: skip


def parse(svg):
    return ElementTree.fromstring(svg)


def said(root, element):
    return ["".join(found.itertext()) for found in root.iter(f"{{http://www.w3.org/2000/svg}}{element}")]


@pytest.mark.parametrize("kind", ["line", "reliability", "bars", "heat"])
@pytest.mark.parametrize("name", ["plain", NASTY], ids=["plain", "nasty"])
def test_a_plot_is_well_formed_named_described_and_scales(kind, name):
    root = parse(plots(name)[kind])
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img" and root.get("aria-label")
    assert root.get("viewBox", "").split()[:3] == ["0", "0", "480"] and root.get("width") is None
    assert said(root, "title")[0] == root.get("aria-label")
    assert said(root, "desc")[0]
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


@pytest.mark.parametrize("kind", ["line", "reliability", "bars", "heat"])
def test_a_plot_opens_alone_with_colours_for_light_and_dark(kind):
    alone = standalone(plots()[kind])
    root = parse(alone.encode())
    (style,) = said(root, "style")
    assert "prefers-color-scheme:dark" in style and "&quot;" not in style
    assert style.count("{") == style.count("}")
    assert alone.count("http") == 1  # the namespace


def test_nothing_to_draw_is_said():
    empty = [
        line_chart({}, title="t"),
        line_chart({"a": [(0, NAN), (math.inf, 1)]}, title="t", references={"r": 0.5}),
        reliability_diagram([NAN], [NAN], [0], title="t"),
        bars({"a": NAN}, title="t"),
        heat_map([], [], [], title="t"),
        heat_map(["a"], ["b"], [[NAN]], title="t"),
    ]
    for svg in empty:
        assert "There is nothing to draw." in said(parse(svg), "text")


def test_a_line_has_a_point_for_each_finite_value_and_says_it_on_hover():
    root = parse(
        line_chart({"solver": [(0, 0.448), (40, NAN), (80, 0.617)]}, title="t", references={"all": 0.752},
                   share=True, whole_x=True)
    )  # fmt: skip
    titles = said(root, "title")
    assert "solver: 44.8% at 0" in titles and "solver: 61.7% at 80" in titles
    assert len(titles) == 3  # the plot's own, and two points
    assert "all 75.2%" in said(root, "text")
    assert "61.7%" in said(root, "desc")[0] and "75.2%" in said(root, "desc")[0]


def test_higher_values_are_drawn_higher_and_inside_the_drawing():
    root = parse(line_chart({"a": [(0, 1), (1, 3), (2, 2)]}, title="t"))
    (drawn,) = root.iter("{http://www.w3.org/2000/svg}polyline")
    points = [tuple(map(float, pair.split(","))) for pair in drawn.get("points").split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert points[1][1] < points[2][1] < points[0][1]
    height = float(root.get("viewBox").split()[3])
    assert all(0 <= x <= 480 and 0 <= y <= height for x, y in points)


def test_series_differ_by_dash_and_shape_not_by_colour_alone():
    root = parse(line_chart({n: [(0, i), (1, i + 1)] for i, n in enumerate("abc")}, title="t"))
    lines = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    assert len({drawn.get("stroke-dasharray") for drawn in lines}) == 3
    shapes = {
        name for name in ("rect", "polygon") if list(root.iter(f"{{http://www.w3.org/2000/svg}}{name}"))
    }
    assert shapes == {"rect", "polygon"}


def test_one_point_and_equal_values_have_a_plot():
    for points in ([(3, 0.5)], [(0, 0.0), (1, 0.0)], [(0, 1e9), (1, 1e9)]):
        assert "nothing to draw" not in line_chart({"a": points}, title="t")


def test_a_reliability_bar_reaches_the_share_right_and_its_gap_the_diagonal():
    root = parse(reliability_diagram([0.5], [0.25], [40], title="t"))
    (group,) = (g for g in root.iter("{http://www.w3.org/2000/svg}g") if len(said(g, "title")) == 1
                and g[0].tag.endswith("title"))  # fmt: skip
    bar, gap, _ = group.iter("{http://www.w3.org/2000/svg}rect")
    assert float(bar.get("height")) == pytest.approx(float(gap.get("height")))  # 0 to 0.25, 0.25 to 0.5
    assert said(group, "title") == ["confidence 50.0%, right 25.0%, 40 problems"]


def test_bars_of_reliability_never_overlap():
    root = parse(reliability_diagram([0.38, 0.41, 0.42, 0.9], [0.1] * 4, [10] * 4, title="t"))
    spans = []
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        if group[0].tag.endswith("title"):
            rect = next(group.iter("{http://www.w3.org/2000/svg}rect"))
            spans.append((float(rect.get("x")), float(rect.get("x")) + float(rect.get("width"))))
    assert len(spans) == 4
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_bars_are_as_long_as_their_values():
    root = parse(bars({"train": 30.0, "generate": 60.0}, title="t", show=lambda s: f"{s:.0f} s"))
    short, long = (float(bar.get("width")) for bar in root.iter("{http://www.w3.org/2000/svg}rect"))
    assert long == pytest.approx(2 * short, abs=0.02)
    assert {"30 s", "60 s", "train", "generate"} <= set(said(root, "text"))


def test_a_heat_map_is_deeper_where_values_are_greater_and_shows_them():
    root = parse(heat_map(["+", "-"], ["+", "-"], [[9, 1], [2, NAN]], title="t"))
    depth = [float(cell.get("fill-opacity")) for cell in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert depth[0] > depth[2] > depth[1] > depth[3] == 0
    assert max(depth) <= 0.72
    assert {"9", "1", "2", "–"} <= set(said(root, "text"))


@pytest.mark.parametrize(
    ("low", "high", "whole", "expected"),
    [
        (0, 4, True, [0, 1, 2, 3, 4]),
        (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 160, True, [0, 50, 100, 150]),
        (0, 0.5, True, [0]),
        (3, 3, False, [3]),
    ],
)
def test_ticks_are_round_numbers(low, high, whole, expected):
    assert ticks(low, high, whole=whole) == pytest.approx(expected)


def test_long_titles_are_wrapped():
    lines = wrap("one two three four five", 100)
    assert len(lines) > 1 and " ".join(lines) == "one two three four five"


def test_points_alone_on_a_logarithmic_axis():
    points = [(0.001, 1), (0.1, 3), (0.0, 2), (0.01, 2)]
    root = parse(line_chart({"a": points}, title="t", log_x=True, joined=False))
    words = ["".join(found.itertext()) for found in root.iter() if found.tag.endswith("text")]
    assert {"0.001", "0.01", "0.1"} <= set(words)
    tags = [found.tag.rpartition("}")[2] for found in root.iter()]
    assert "polyline" not in tags
    assert (
        sum("at 0" in "".join(found.itertext()) for found in root.iter() if found.tag.endswith("title")) == 3
    )
