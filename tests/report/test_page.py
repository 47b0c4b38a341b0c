import dataclasses
import math
import re
from html.parser import HTMLParser

import polars as pl
import pytest

from toolkit.active.calibration import Reliability
from toolkit.data.schema import METRICS
from toolkit.report.figures import Asked, Disputed, RunFigures, Spurious
from toolkit.report.markup import Html, tag, text
from toolkit.report.page import SECTIONS, render
from toolkit.report.values import duration, number, percent, points
from toolkit.statistics import Difference

NASTY = """<script>alert("1")</script> & 'x' </style></pre>"""
VOID = {"meta", "br", "hr"}


class Reader(HTMLParser):
    """Elements, attributes and text of a page; that all elements are closed in order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.ids, self.open, self.words = [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        self.ids += [value for key, value in attributes if key == "id"]
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def shown(self):
        return re.sub(r"\s+", " ", "".join(self.words))


def empty(**changes):
    nothing = RunFigures(
        name="", data="", problems=0, test_problems=0, test_gold=0, annotator="", strategy="", stopped_by="",
        stop_reason="", rounds=0, labels=0, seconds=0.0, seed=0, command="", config="",
        metrics=pl.DataFrame(schema=METRICS), final={}, references={}, gains={}, before=None, after=None,
    )  # fmt: skip
    return dataclasses.replace(nothing, **changes)


def test_every_section_is_there_and_says_how_to_read_it(example):
    for figures in (example, empty()):
        page = Reader(render(figures))
        assert page.ids == list(SECTIONS)
        names = [name for name, _ in page.elements]
        assert names.count("section") == names.count("h2") == len(SECTIONS)
        how = [at for at, (_, attributes) in enumerate(page.elements) if attributes.get("class") == "how"]
        assert len(how) == len(SECTIONS)
        links = [attributes["href"] for name, attributes in page.elements if name == "a"]
        assert links == [f"#{name}" for name in SECTIONS]


def test_an_empty_run_is_told_in_sentences_and_has_no_plot():
    page = Reader(render(empty()))
    assert "svg" not in [name for name, _ in page.elements]
    for sentence in ("No round was measured.", "Nobody was asked anything in this run.",
                     "No answer was disputed, and nobody disagreed.",
                     "The command was not recorded."):  # fmt: skip
        assert sentence in page.shown
    assert "nan" not in page.shown.lower().split()


def test_what_is_not_a_number_is_a_dash(example):
    nan, inf = math.nan, math.inf
    broken = Reliability([nan], [nan], [3], nan, nan, None, [(nan, nan)])
    figures = dataclasses.replace(
        example,
        metrics=example.metrics.with_columns(value=pl.lit(nan)),
        final={"answer_accuracy": nan},
        references={"no annotations": {"answer_accuracy": inf}},
        before=broken,
        after=broken,
        seconds=inf,
        stage_seconds={"train": nan},
        asked=[dataclasses.replace(example.asked[0], answer=nan, confidence=nan, candidates=[("1", nan)])],
    )
    page = Reader(render(figures))
    assert not re.search(r"\b(nan|inf)\b", page.shown)
    missing_values = example.metrics.with_columns(value=pl.lit(None, dtype=pl.Float64))
    Reader(render(dataclasses.replace(example, metrics=missing_values)))


@pytest.mark.parametrize("part", ["before", "after", "asked", "disputed", "spurious", "versions", "final"])
def test_any_part_may_be_missing(example, part):
    absent = {"before": None, "after": None, "versions": {}, "final": {}}.get(part, ())
    assert Reader(render(dataclasses.replace(example, **{part: absent}))).ids == list(SECTIONS)


def test_the_numbers_shown_are_those_given(example):
    shown = Reader(render(example)).shown
    assert (
        "With equations for 160 of 2,000 problems (8.0%) from annotators, the solver answers 70.2% of 500 "
        "unseen problems correctly (95% interval 66.0 – 74.0). It would be 47.4% with no annotations and "
        "75.2% with every problem annotated."
    ) in shown
    for figure in (
        "89.3%",
        "75.1%",
        "30 min 12 s",
        "+22.8",
        "+27.8",
        "0.114",
        "0.021",
        "0.187",
        "0.794",
        "1.84",
    ):
        assert figure in shown
    for value in example.metrics.filter(name="answer_accuracy")["value"]:
        assert percent(value) in shown
    assert "82% of the way" in shown  # (70.2 - 47.4) / (75.2 - 47.4)
    assert "7.02 labels a point" in shown  # 160 / 22.8
    assert "4 of 9 responses could be used" in shown
    for question in example.asked:
        assert question.text in shown and question.problem_id in shown and question.why in shown
    assert example.command in shown and "random_share: 0.1" in shown


@pytest.mark.parametrize(
    ("final", "said"),
    [
        (0.6, "won 67% of what annotating everything would win."),
        (0.9, "won as much as annotating everything"),
    ],
)
def test_what_the_labels_won_is_compared_with_all_labels_and_is_never_more(example, final, said):
    figures = dataclasses.replace(
        example,
        final={"answer_accuracy": final},
        references={
            "no annotations": {"answer_accuracy": 0.4},
            "everything annotated": {"answer_accuracy": 0.7},
        },
        gains={"everything annotated": Difference(0.3, 0.2, 0.4)},
    )
    assert said in Reader(render(figures)).shown


def test_every_accuracy_has_its_interval_and_gains_are_paired(example):
    shown = Reader(render(example)).shown
    shares = ("66.0 – 74.0", "43.1 – 51.8", "71.2 – 78.8")
    for within in (*shares, "+22.8 (+18.3 to +27.1)", "+27.8 (+23.1 to +32.2)"):
        assert within in shown
    assert "within chance" not in shown


def test_a_gain_within_chance_is_called_that(example):
    won, most = Difference(0.02, -0.01, 0.05), Difference(0.03, -0.002, 0.06)
    gains = {"this run": won, "everything annotated": most}
    shown = Reader(render(dataclasses.replace(example, gains=gains))).shown
    assert "What the annotations bought is within chance: +2.0 (−1.0 to +5.0) points." in shown
    assert "The difference between everything annotated and no annotations is within chance" in shown
    assert "of the way" not in shown and "labels a point" not in shown


def test_the_learning_curve_joins_labels_and_test_accuracy_of_the_same_round(example):
    page = render(example)
    assert "solver of the round: 55.1% at 40<" in page
    assert "solver of the round: 67.8% at 160<" in page
    without = example.metrics.filter(~((pl.col("name") == "labels") & (pl.col("round") == 1)))
    assert "solver of the round: 55.1%" not in render(dataclasses.replace(example, metrics=without))


def test_problems_are_marked_with_their_language(example):
    elements = Reader(render(example)).elements
    languages = {attributes.get("lang") for name, attributes in elements if name == "p"}
    assert {"en", "hi", "zh"} <= languages


def test_a_long_round_shows_fifty_cards_and_counts_the_rest(example):
    many = [dataclasses.replace(example.asked[0], problem_id=f"p-{at}") for at in range(73)]
    page = Reader(render(dataclasses.replace(example, asked=many, disputed=(), spurious=())))
    assert [name for name, _ in page.elements].count("article") == 50
    assert "23 more questions of this round not shown." in page.shown
    assert "Round 1: 73 questions, 73 accepted" in page.shown


def nasty_figures(example):
    return dataclasses.replace(
        example,
        name=NASTY, data=NASTY, annotator=NASTY, strategy=NASTY, stopped_by=NASTY, stop_reason=NASTY,
        command=NASTY, config=NASTY, versions={NASTY: NASTY}, stage_seconds={NASTY: 1.0},
        references={**example.references, NASTY: {"answer_accuracy": 0.5}},
        asked=[Asked(1, NASTY, NASTY, 1.0, NASTY, NASTY, 0.5, [(NASTY, 0.5)], *[NASTY] * 4, True)],
        disputed=[Disputed(NASTY, NASTY, 1.0, NASTY, NASTY, NASTY)],
        spurious=[Spurious(NASTY, NASTY, 1.0, NASTY, NASTY, 0.5, NASTY)],
    )  # fmt: skip


def test_no_free_text_becomes_markup(example):
    page = render(nasty_figures(example))
    assert "<script" not in page and page.count("</style>") == 1
    read = Reader(page)
    plain = Reader(render(example))
    assert {name for name, _ in read.elements} <= {name for name, _ in plain.elements}
    # Every one of the fields above is there, as text.
    assert read.shown.count(NASTY) >= 25
    known = {key for _, attributes in plain.elements for key in attributes}
    assert {key for _, attributes in read.elements for key in attributes} <= known


def test_text_that_cannot_be_written_is_replaced(example):
    page = render(dataclasses.replace(example, name="a\x00b\ud800c"))
    assert "a\ufffdb\ufffdc" in page
    page.encode("utf-8")


def test_nothing_is_loaded_and_nothing_may_run(example):
    page = render(nasty_figures(example))
    assert set(re.findall(r"https?://[^\"'\s<>]*", page)) == {"http://www.w3.org/2000/svg"}
    read = Reader(page)
    names = {name for name, _ in read.elements}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "image", "use", "base"}
    assert not [key for _, attributes in read.elements for key in attributes if key.startswith("on")]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    assert "url(" not in style and "@import" not in style
    (policy,) = (
        a["content"] for name, a in read.elements if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in policy


def test_the_same_figures_give_the_same_page(example):
    assert render(example) == render(example)


def test_markup_is_kept_and_everything_else_is_escaped():
    assert text(["<", Html("<b>"), None, 3]) == "&lt;<b>3"
    assert (
        tag("p", tag("b", "a&b"), class_="x y", title='"')
        == '<p class="x y" title="&quot;"><b>a&amp;b</b></p>'
    )
    assert tag("meta", charset="utf-8", hidden=False, lang=None) == '<meta charset="utf-8">'
    assert text(f"{Html('<b>')}") == "&lt;b&gt;"  # formatting makes it a plain string again


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (duration(0.84), "0.8 s"),
        (duration(59.7), "1 min"),
        (duration(3599.6), "1 h"),
        (duration(8040), "2 h 14 min"),
        (number(12180.0), "12,180"),
        (number(439.822971502571), "439.823"),
        (number(-2.5), "−2.5"),
        (points(-0.031), "−3.1"),
        (points(-0.0001), "±0.0"),
        (percent(None), "–"),
    ],
)
def test_numbers_are_written_for_people(shown, expected):
    assert shown == expected


def test_constants_are_listed_with_what_speaks_for_them(example):
    page = Reader(render(example))
    assert "V_const = {1, 100, π}" in page.shown
    for cell in ("38 − 1", "N0 / N1 * 100 (26)", "3 − 3"):
        assert cell in page.shown
    given = Reader(render(dataclasses.replace(example, choice=None)))
    assert "V_const = {1, 100, π}" in given.shown and "They were given, not chosen." in given.shown


def test_annotators_who_disagree_do_not_say_that_the_answer_is_wrong(example):
    cases = [
        Disputed("p1", "text", 1.0, "li", "It should be 2.", "en"),
        Disputed("p2", "text", 1.0, "li, asha", "The annotators disagree.", "en", disagreement=True),
    ]
    page = render(dataclasses.replace(example, disputed=cases))
    disputed, _, disagreement = page.partition("<h3>Annotators disagree</h3>")
    assert "p1" in disputed.rpartition("<h3>The answer is disputed</h3>")[2] and "p2" not in disputed
    assert "p2" in disagreement
    alone = render(dataclasses.replace(example, disputed=cases[1:]))
    assert "The answer is disputed" not in alone


def test_only_an_oracle_is_promised_to_answer_the_same_again(example):
    for name, promised in (("oracle", True), ("label-studio", False), ("python", False)):
        page = Reader(render(dataclasses.replace(example, annotator=name)))
        assert ("gives the same run." in page.shown) is promised
        assert ("as far as people answer the same" in page.shown) is not promised
