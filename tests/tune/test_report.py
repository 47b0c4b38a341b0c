import re
from html.parser import HTMLParser

import pytest

from toolkit.config import to_yaml
from tune.report import SweepFigures, render
from tune.results import TrialResult

NASTY = """<script>alert("1")</script> & 'x' </style></pre>"""


def page(config, found, name="sweep"):
    return render(
        SweepFigures(name, config, 24, 10, len(found), found, 60.0, NASTY, to_yaml(config), {"ray": "2"})
    )


class Words(HTMLParser):
    def __init__(self, shown):
        super().__init__()
        self.ids, self.tags, self.words = [], [], []
        self.feed(shown)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.ids += [value for key, value in attributes if key == "id"]

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_has_maps_the_ablation_curve_the_settings_and_their_cost(outcomes):
    config, found = outcomes(
        "seeds=[0, 1]", "space={gold: [0, 0.5], beam_width: [1, 5], beam_exploration: [true, false]}"
    )
    read = Words(page(config, found))
    assert read.ids == ["maps", "curve", "settings", "cost", "reproduce"]
    assert "Gold fraction × beam width" in read.text
    for title in (
        "Equations reached",
        "Gold-equivalent",
        "Solver accuracy",
        "Answers reached",
        "Time of a trial",
    ):
        assert title in read.text
    assert "74.5%" in read.text and "± 0.7" in read.text  # the mean of 75 and 74 %, and their deviation
    assert "beam width 5" in read.text and "no beam exploration" in read.text
    assert "Best by gold-equivalent: gold 0.5, beam_width 5, beam_exploration yes." in read.text


def test_settings_that_may_be_as_good_as_the_best_are_counted(outcomes):
    config, found = outcomes("metric=answer_accuracy", "space={beam_width: [1, 5, 10]}", "seeds=[0, 1]")
    marks = {1: "0" * 90 + "1" * 10, 5: "0" * 41 + "1" * 59, 10: "0" * 40 + "1" * 60}
    figures = [
        result.figures | {"right": marks[width], "answer_accuracy": marks[width].count("1") / 100}
        for result in found
        if (width := result.trial.config.warm.explore.beam_width)
    ]
    found = [TrialResult(result.trial, seen, "done") for result, seen in zip(found, figures, strict=True)]
    shown = Words(page(config, found)).text
    assert "1 other setting is within chance of it, on the same test problems." in shown
    assert "60.0% ± 0.0 (31.3 – 83.2)" in shown  # of the ten test problems that this page is told of


def test_it_loads_nothing_and_escapes_what_others_wrote(outcomes):
    config, found = outcomes("data=<script>alert(1)</script>")
    found[0] = TrialResult(found[0].trial, {}, "failed", NASTY)
    shown = page(config, found, NASTY)
    assert "script" not in Words(shown).tags
    assert "default-src 'none'" in shown.replace("&#x27;", "'")
    assert not re.search(r"(src|href)=\"(?!#)", shown)
    assert "Trials that failed" in shown


def test_one_seed_has_no_deviation_and_one_key_no_map(outcomes):
    assert "of one seed, so without a deviation" in page(*outcomes())
    assert "A map needs two keys" in page(*outcomes("space={beam_width: [1, 5]}"))


@pytest.mark.parametrize("state", ["failed", "stopped"])
def test_a_sweep_without_any_figures_says_so(outcomes, state):
    config, found = outcomes()
    read = Words(page(config, [TrialResult(one.trial, {}, state) for one in found]))
    assert "No trial has a figure for gold-equivalent yet." in read.text
    assert Words(page(config, [])).ids == read.ids


def test_random_values_of_any_kind_can_be_shown(outcomes):
    space = (
        "space={gold: {low: 0.0, high: 0.5}, solver_kind: [gts, graph2tree], constants: [['1'], ['1', π]]}"
    )
    read = Words(page(*outcomes("search=random", "draws=12", space)))
    assert "Solver kind × constants" in read.text


def test_keys_of_ranges_have_a_plot_each_and_one_of_the_best_so_far(outcomes):
    space = "space={beam_width: {low: 1, high: 30}, train.lr: {low: 1e-4, high: 0.1, log: true}}"
    read = Words(page(*outcomes("search=random", "draws=12", space)))
    for title in (
        "Gold-equivalent, by beam width",
        "Gold-equivalent, by lr",
        "Gold-equivalent, the best so far",
    ):
        assert title in read.text
    assert "0.001" in read.text and "0.01" in read.text  # powers of ten on the axis of the rate
    assert "All trials were given the same number." in read.text  # no curve of one amount
    assert "gives the same figures" in read.text
    assert "gives other proposals" in Words(page(*outcomes("search=tpe", space))).text
