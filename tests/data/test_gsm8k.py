"""Problem sets in the form of GSM8K. The lines are our own: none of its data is here."""

import json

import polars as pl
import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.data import find_numbers, read_problems
from toolkit.data.gsm8k import MOST_MARKS, equation_of, final_answer
from toolkit.equations import EquationError, show, verify

TREES = "Ravi planted 36 trees in spring, and half as many in autumn. How many did he plant in the year?"
HALVES = "In autumn it was 36/2 = <<36/2=18>>18.\nIn the year it was 36+18 = <<36+18=54>>54.\n#### 54"
ROWS = [
    {"question": TREES, "answer": HALVES},
    {"question": "A coat of $1,200 is 25% off. What does it cost?",
     "answer": "It is 1200*25/100 = <<1200*25/100=300>>$300 off.\nIt costs <<1200-300=900>>900.\n#### $900."},
    {"question": "Tom has 3 hens. Each lays 7 eggs. How many eggs?", "answer": "He has many.\n#### 21"},
]  # fmt: skip


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_its_marks_become_equations_over_the_numbers_of_the_question(published):
    read = read_problems(published)
    assert read.format == "gsm8k"
    assert read.table.select("id", "answer", "equation").rows() == [
        ("1", 54.0, "36 + 36 / 2"),
        ("2", 900.0, "1200 - 1200 * (25 / 100)"),
        ("3", 21.0, None),
    ]
    assert [template is not None for template in read.gold] == [True, True, False]


def test_its_parquet_files_are_read_alike(published, tmp_path):
    pl.DataFrame(ROWS).write_parquet(tmp_path / "train-00000-of-00001.parquet")
    again = read_problems(tmp_path / "train-00000-of-00001.parquet")
    assert again.table.equals(read_problems(published).table)


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("1,250", "1250"),
        ("$5", "5"),
        ("$ 5", "5"),
        ("25 %", "25"),
        ("-$5.50", "-5.50"),
        ("$-3", "-3"),
        ("25%", "25"),
        ("18.", "18"),
        (".5", ".5"),
        ("3/4", "3/4"),
        ("none", "none"),
        ("1 #### 2", "2"),
    ],
)
def test_the_answer_is_the_number_after_the_last_four_hashes(written, answer):
    assert final_answer(f"So it is <<1+1=2>>2.\n#### {written}\n") == answer


@pytest.mark.parametrize(
    ("question", "marks", "answer", "equation"),
    [
        # a result that two later marks use, though it is not in the question
        ("22 seats at €10, half of them at 70%",
         "<<22/2=11>> <<10*70/100=7>> <<11*7=77>> <<11*10=110>> <<77+110=187>>", 187,
         "22 / 2 * (10 * (70 / 100)) + 22 / 2 * 10"),
        # 5 is a result that was not used yet, and then the number of the question
        ("10 pens for 2 boys, 5 girls with 3 each", "<<10/2=5>> <<5*3=15>> <<15+5=20>>", 20,
         "10 / 2 * 3 + 5"),
        # of two marks with one result, the later one
        ("9 red, 3 blue, 4 green, 8 in all are lost", "<<9+3=12>> <<8+4=12>> <<12-3=9>>", 9, "8 + 4 - 3"),
        # marks after the one that gives the answer do not count
        ("7 days of 6 hours, 2 of rest", "<<7*6=42>> <<42/2=21>>", 42, "7 * 6"),
        # decimals without a zero, brackets, a power, a result that says the same again
        ("a room of 4 by 4 metres, $3 for one", "<<(4**2)*3=48>> <<48=48.0>>", 48, "4 ^ 2 * 3"),
        ("$80 with 25% off", "<<80*.25=20>> <<80-20=60>>", 60, "80 - 80 * 0.25"),
        # a constant that people may use though the text does not name it
        ("90 litres an hour, for 14 minutes", "<<90/60=1.5>> <<1.5*14=21>>", 21, "90 / 60 * 14"),
        # a rounded result
        ("10 cakes for 3 people", "<<10/3=3.33>>", 3.33, "10 / 3"),
    ],
)  # fmt: skip
def test_results_are_replaced_by_what_they_were_computed_from(question, marks, answer, equation):
    assert equation_of(question, marks, answer) == equation


@pytest.mark.parametrize(
    ("question", "marks", "answer", "template"),
    [
        ("4 tables of €80, 8 weeks, 10% more", "<<80*10/100=8>> <<80+8=88>> <<88*4=352>> <<352/8=44>>", 44,
         "(N1 + N1 * N3) * N0 / N2"),
        ("3 jars hold 1/7 of the 35 kg, a box 7", "<<35*1/7=5>> <<5*3=15>> <<35-15=20>> <<20-7=13>>", 13,
         "N2 - N2 * N1 * N0 - N3"),
        ("140 cows, 7 farms, 3/7 red, 3/4 of the rest old", "<<140/7*3=60>> <<140-60=80>> <<3*80/4=60>>", 60,
         "N3 * (N0 - N0 * N2)"),
        # half of it is said, but this is no half
        ("8 men, 2 days, 4 carts, half of them new", "<<8*2/4=4>>", 4, "N0 * N1 / N2"),
    ],
)  # fmt: skip
def test_fractions_and_percentages_are_bound_to_the_numbers_that_they_are(question, marks, answer, template):
    numbers = [number.value for number in find_numbers(question, "en")]
    found = verify(equation_of(question, marks, answer), numbers, answer)
    assert show(found.templates[0]) == template


TWO = "There are 2 cats and 3 dogs."
DOUBLED = "".join(f"<<{2**n}+{2**n}={2 ** (n + 1)}>>" for n in range(1, 41))  # 2 ** 40 operators
CHAIN = "<<2+3=5>>" + "".join(f"<<{n}+1+1={n + 2}>>" for n in range(5, 105, 2))


@pytest.mark.parametrize(
    ("marks", "answer", "reason"),
    [
        ("", 5, "none of its marks"),
        ("<<2+3=5>>", 6, "none of its marks"),
        ("<<2+3=5", 5, "a mark << is not closed"),
        ("<<2+<<3=5>>", 5, "a mark << is not closed"),
        ("<<2+3>>", 5, "<<2+3>> can't be read"),
        ("<<>>", 5, "<<>> can't be read"),
        ("<<two+3=5>>", 5, "<<two+3=5>> can't be read"),
        ("<<2+3=2+3>>", 5, "is not a number"),
        ("<<__import__('os').system('true')=5>>", 5, "can't be read"),
        ("<<17+3=20>>", 20, "17 is not a number of the problem"),
        ("<<2*3=7>>", 7, "it gives 6, but the answer is 7"),
        ("<<2/0=5>>", 5, "it divides by zero"),
        ("<<2/(3-3)=5>>", 5, "it divides by zero"),
        ("<<3**3**3**3**3=5>>", 5, "exponent"),
        ("<<10**9**9=5>>", 5, "exponent"),
        ("<<" + "(" * 5_000 + "5" + ")" * 5_000 + "=5>>", 5, "can't be read"),
        ("<<" + "(" * 300 + "5" + ")" * 300 + "=5>>", 5, "can't be read"),
        ("<<" + "9" * 900 + "=5>>", 5, "can't be read"),
        ("<<2+3=5>>" * (MOST_MARKS + 1), 5, "101 marks"),
        ("<<2+3=5>>" * 1_000_000, 5, "1,000,000 marks"),
        ("<<" * 1_000_000, 5, "not closed"),
        ("<" * 1_000_001 + ">" * 1_000_001, 5, "not closed"),
        (DOUBLED, 2.0**41, "more than 100 operators"),
        (CHAIN, 105, "more than 100 operators"),
    ],
)
def test_marks_that_do_not_work_out_give_no_equation_but_a_reason(marks, answer, reason):
    with pytest.raises(EquationError) as refused:
        equation_of(TWO, marks, answer)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 300


def test_what_could_not_be_used_is_counted_and_named(published, tmp_path):
    imported = CliRunner().invoke(
        main, ["data", "import", str(published), "--out", str(tmp_path / "p.parquet")]
    )
    assert imported.exit_code == 0
    assert imported.stdout == f"3 problems (gsm8k) written to {tmp_path / 'p.parquet'}\n"
    assert imported.stderr == (
        "1 of 3 problems are kept without their equation:\n"
        f"  {published}, line 3, id 3: none of its marks <<…>> gives the answer\n"
    )
    assert read_problems(tmp_path / "p.parquet").table["equation"].null_count() == 1
    checked = CliRunner().invoke(main, ["data", "check", str(published), "--no-search", "--json"])
    figures = json.loads(checked.stdout)
    assert (figures["problems"], figures["with_equation"], figures["bound"]) == (3, 2, 2)
    assert [row["line"] for row in figures["equations_left_out"]] == [3]
    shown = CliRunner().invoke(main, ["data", "check", str(published), "--no-search"]).stdout
    assert "equations left out:\n" in shown and "id 3: none of its marks" in shown


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answer": "#### many"}, "its answer 'many' is not a number"),
        ({"answer": "####"}, "it has no answer"),
        ({"answer": "It is <<2+3=5>>5."}, "is not a number"),
        ({"answer": ["#### 5"]}, "is not a number"),
        ({"answer": {"value": "#### 5"}}, "is not a number"),
        ({"answer": None}, "it has no answer"),
        ({"answer": "#### " + "9" * 500}, "is too large"),
        ({"answer": "#### " + "9" * 500_000}, "is not a number"),
        ({"answer": "#### $" + " " * 500_000 + "x"}, "is not a number"),
        ({"answer": "#### " + "1," * 500_000 + "x"}, "is not a number"),
        ({"answer": "####" * 500_000}, "it has no answer"),
        ({"question": 5}, "it has no text"),
        ({"question": [TWO]}, "it has no text"),
        ({"question": None}, "it has no text"),
        ({"question": "2 " * 50_000}, "its text has"),
        ({"question": "2 " * 90}, "its text has 90 numbers"),
        ({"question": "No number at all"}, "its text has no number"),
    ],
)  # fmt: skip
def test_a_row_that_can_not_be_used_is_named(tmp_path, fields, reason):
    good = {"question": TWO, "answer": "<<2+3=5>>5 #### 5"}
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps({**good, **fields}) + "\n", encoding="utf-8")
    read = read_problems(path, skip_bad=True)
    assert read.table["equation"].to_list() == ["2 + 3"]
    assert [bad.line for bad in read.bad] == [2]
    assert reason in read.bad[0].reason
    assert read.left_out == ()


def test_question_and_answer_without_a_solution_are_a_problem_set_too(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,question,answer,equation\na,2 cats and 3 dogs,5,2+3\n", encoding="utf-8")
    assert read_problems(path).table.row(0)[:4] == ("a", "2 cats and 3 dogs", 5.0, "2+3")
