"""The page and the Markdown table say the same, and all of it."""

import html
import re

import pytest
from paper.tiny_paper import COMMAND, ONE, TWO, measure, place, plan_of, write_data

from toolkit.paper.figures import shown_tables
from toolkit.paper.markdown import SEPARATOR, to_markdown
from toolkit.paper.page import PaperFigures, render
from toolkit.paper.run import Files, results_of
from toolkit.paper.tables import TABLES, Entry, Row, Step, System, Table


def words(page: str) -> str:
    without = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", without)).split())


def test_the_page_and_the_markdown_have_every_number(measured):
    _, _, _, written = measured
    page = words(written.page.read_text(encoding="utf-8"))
    markdown = written.markdown.read_text(encoding="utf-8")
    for shown in written.tables:
        assert f"Table {shown.table.number}: {shown.table.title}" in page
        for row in shown.rows:
            (found,) = row.places.values()
            figure, interval, seconds, paper = found.parts
            assert float(figure) == round(100 * found.right / found.of, 1)
            assert paper == f"paper {found.paper:.1f}" and "–" in interval and seconds.endswith("s")
            assert " ".join([row.row.name, *found.parts]) in page
            assert f"| {row.row.name} | {SEPARATOR.join(found.parts)} |" in markdown


def test_the_page_loads_nothing_and_says_how_it_was_made(measured):
    page = measured[3].page.read_text(encoding="utf-8")
    assert "default-src 'none'" in html.unescape(page)
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert COMMAND in html.unescape(page)
    assert "train:" in page and "epochs: 2" in page  # the settings as resolved
    assert "40" in words(page) and "2 folds of the file" in page


def test_markdown_is_a_table_with_as_many_cells_in_every_line(measured):
    lines = to_markdown(measured[3].tables).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert len(tables) == 2 * 2 + 2 + 2 + 2  # heads, their rules, groups and rows
    assert {line.count("|") for line in tables} == {3}


def test_what_is_not_measured_says_why(data, tmp_path):
    rows = (
        Row("here", "", place(System(Step("warm")), 50.0)),
        Row("elsewhere", "", place(System(Step("warm")), 51.0, "hw10k")),
        Row("later", "", place(System(Step("warm"), "no-such-solver"), 52.0)),
        Row("never", "", {"AllArith": Entry("ew10k", None)}),
    )
    plan = plan_of(data, Table(1, "Reasons", "reached", rows))
    _, written = measure(plan, tmp_path / "out", seconds=0)
    markdown = written.markdown.read_text(encoding="utf-8")
    for line in (
        "| here | not run · paper 50.0 |",
        "| elsewhere | no data · paper 51.0 |",
        "| later | not available · paper 52.0 |",
        "| never | NA |",
    ):
        assert line in markdown
    page = words(written.page.read_text(encoding="utf-8"))
    assert all(reason in page for reason in ("not run", "no data", "not available", "NA"))


def test_the_figure_is_drawn_through_what_is_measured(data, tmp_path):
    steps = {f"{100 * gold:.0f} %": Step("random_sampling", gold=gold) for gold in (0.0, 0.5)}
    curve = Row("sampling", "", {name: Entry("allarith", System(step)) for name, step in steps.items()})
    table = Table(5, "Gold", "reached", (curve,), is_figure=True)
    plan, out = plan_of(data, table), tmp_path / "out"
    _, nothing = measure(plan, out, seconds=0)
    assert "<svg" not in nothing.page.read_text(encoding="utf-8")
    _, written = measure(plan, out, resume=True)
    page = written.page.read_text(encoding="utf-8")
    points = re.findall(r"<title>sampling: ([\d.]+)% at (\d+)%</title>", page)
    places = written.tables[0].rows[0].places
    assert points == [(places["0 %"].figure, "0"), (places["50 %"].figure, "50")]


def test_a_mean_over_some_of_the_folds_says_so(measured):
    plan, out, ended, _ = measured
    results = results_of(plan, Files(out))
    del results[ended[0]]
    sampling = shown_tables(plan, results)[0].rows[1].places["AllArith"]
    assert sampling.missing == "1 of 2 cells" in sampling.parts
    assert sampling.of == 20


@pytest.mark.parametrize("tables", [TABLES, (ONE, TWO)], ids=["the paper's", "tiny"])
def test_a_paper_without_any_data_is_a_page(tmp_path, tables):
    plan = plan_of(tmp_path, *tables)
    counts = {"measured": 0, "failed": 0, "left": 0}
    page = render(PaperFigures(plan, shown_tables(plan, {}), counts, 0.0, "", {}))
    assert "No file of a problem set was there." in page
    assert words(page).count("no data") + words(page).count("not available") > 2


def test_of_sets_that_are_joined_the_share_of_each_is_told(tmp_path):
    write_data(tmp_path / "data")
    data = write_data(tmp_path / "data", "ew10k", folds=0, equation=None)
    row = Row("sampling", "baselines", place(System(Step("random_sampling")), data="allarith-ew10k"))
    plan = plan_of(data, Table(3, "Both", "reached", (row,)))
    _, written = measure(plan, tmp_path / "out")
    (shown,) = written.tables
    (found,) = shown.rows[0].places.values()
    results = results_of(plan, Files(tmp_path / "out")).values()
    for name in ("allarith", "ew10k"):
        right, of = (sum(result.by_set[name][i] for result in results) for i in (0, 1))
        assert (
            of == 40 and found.by_set[name] == right / of
        )  # each problem is learnt from in one of two folds
    assert sum(right for result in results for right, _ in result.by_set.values()) == found.right > 0
    told = f"AllArith {100 * found.by_set['allarith']:.1f}, EW10K {100 * found.by_set['ew10k']:.1f}"
    assert told in (tmp_path / "out" / "paper.md").read_text(encoding="utf-8")
    assert told in (tmp_path / "out" / "paper.html").read_text(encoding="utf-8")
