"""The story generator, and the bundled problems that it wrote."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import toolkit.data
from toolkit.data.numbers import find_numbers
from toolkit.data.stories import STORY_FILES, Story, masked, story_language, story_rows, write_stories
from toolkit.data.stories.quantities import ONE, PI, Number, Operation, Quantity, steps, value, written
from toolkit.equations import Expr, Ref, bind, count_operators, evaluate, klass, matches, parse, verify
from toolkit.equations.tree import postorder

BUNDLED = Path(toolkit.data.__file__).parent / "bundled"
SEED = 2022
COUNTS = {"en": 1200, "hi": 400, "zh": 400}
FEWEST_KINDS = {"en": 45, "hi": 25, "zh": 30}
QUESTION_MARK = {"en": "?", "hi": "?", "zh": "？"}
PI_VALUE = {"en": math.pi, "hi": math.pi, "zh": Fraction("3.14")}  # Chinese school books take 3.14
LARGEST_TEMPLATE_SHARE = 0.25
ENOUGH_FOR_A_SHARE = 40  # problems with as many numbers; of fewer a share says nothing

Row = dict[str, Any]


@pytest.fixture(scope="module", params=list(COUNTS))
def lang(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def stories(lang: str) -> list[Story]:
    return write_stories(lang, COUNTS[lang], SEED)


@pytest.fixture(scope="module")
def rows(lang: str) -> list[Row]:
    lines = (BUNDLED / f"{lang}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def templates(rows: list[Row]) -> list[Expr]:
    """Each equation over the numbers of its text. `bind` refuses any other number than 1 and π."""
    found = []
    for row in rows:
        bindings = bind(parse(row["equation"]), _numbers(row))
        assert len(bindings) == 1, f"it is not clear which numbers {row['equation']} means in: {row['text']}"
        found.append(bindings[0])
    return found


def _numbers(row: Row) -> list[Fraction]:
    return [number.value for number in find_numbers(row["text"], row["lang"])]


def _used(template: Expr) -> set[int]:
    return {node.index for node in postorder(template) if isinstance(node, Ref)}


def test_the_same_seed_writes_the_same_stories(lang: str, stories: list[Story]) -> None:
    assert write_stories(lang, COUNTS[lang], SEED) == stories


def test_another_seed_writes_other_stories(lang: str, stories: list[Story]) -> None:
    others = {story.text for story in write_stories(lang, 200, SEED + 1)}
    assert len(others & {story.text for story in stories}) < 20


def test_a_smaller_count_is_the_beginning_of_a_larger_one(lang: str, stories: list[Story]) -> None:
    assert write_stories(lang, 50, SEED) == stories[:50]


def test_a_language_without_stories_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'fr': choose one of en, hi, zh"):
        write_stories("fr", 1, 0)


@pytest.mark.parametrize(("language", "count"), [("en", 5000), ("hi", 1500), ("zh", 3000)])
def test_thousands_of_different_stories_can_be_written(language: str, count: int) -> None:
    assert len({story.text for story in write_stories(language, count, seed=7)}) == count


def test_the_bundled_file_is_exactly_what_the_generator_writes(lang: str, stories: list[Story]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in story_rows(stories, SEED)]
    assert (BUNDLED / f"{lang}.jsonl").read_text(encoding="utf-8") == "".join(lines)


def test_a_bundled_row_has_the_columns_of_the_problems_table(lang: str, rows: list[Row]) -> None:
    assert len(rows) == COUNTS[lang]
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert list(row) == ["id", "text", "answer", "equation", "lang", "split"]
        assert row["lang"] == lang and row["id"].startswith(f"{lang}-")
        assert isinstance(row["answer"], float) and row["split"] in ("train", "test")


def test_no_two_texts_are_equal(rows: list[Row]) -> None:
    assert len({row["text"] for row in rows}) == len(rows)


def test_texts_have_one_question_and_no_traces_of_the_machinery(lang: str, rows: list[Row]) -> None:
    mark = QUESTION_MARK[lang]
    for row in rows:
        text = row["text"]
        assert text.endswith(mark) and text.count("?") + text.count("？") == 1, text
        assert not any("\ue000" <= character <= "\uf8ff" or character in "{}=+*" for character in text), text
        assert "  " not in text and text == text.strip(), text


def test_chinese_texts_have_full_width_punctuation_and_no_spaces() -> None:
    for story in write_stories("zh", COUNTS["zh"], SEED):
        assert not any(sign in story.text for sign in " ,;!?"), story.text
        assert "。" in story.text or "，" in story.text, story.text
        assert "。。" not in story.text and "，，" not in story.text, story.text


def test_every_kind_is_there_and_on_both_sides_of_the_split(lang: str, stories: list[Story]) -> None:
    sides = defaultdict(set)
    for story, row in zip(stories, story_rows(stories, SEED), strict=True):
        sides[story.kind].add(row["split"])
    assert set(sides) == set(story_language(lang).kinds)
    assert len(sides) >= FEWEST_KINDS[lang]
    assert all(len(both) == 2 for both in sides.values())


def test_kinds_have_different_names(lang: str) -> None:
    file = (STORY_FILES / f"{lang}.yaml").read_text(encoding="utf-8")
    names = re.findall(r"^  ([a-z_.]+):$", file.partition("\nkinds:\n")[2], re.MULTILINE)
    assert sorted(names) == sorted(story_language(lang).kinds)  # YAML would keep the last of two silently


def _wordings(lang: str) -> dict[str, dict[str, set[str]]]:
    """What stands in the story file: the wordings of each kind by the shape of the equation."""
    file = yaml.safe_load((STORY_FILES / f"{lang}.yaml").read_text(encoding="utf-8"))
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, kind in file["kinds"].items():
        for question in kind.get("ask", [kind]):
            found[name][question["equation"]].update(question["wordings"].splitlines())
    return found


def test_a_kind_has_at_least_three_wordings(lang: str) -> None:
    offered = _wordings(lang)
    few = {name: shapes for name, shapes in offered.items() if sum(map(len, shapes.values())) < 3}
    assert few == {} and len(offered) == len(story_language(lang).kinds)


def test_a_chinese_question_has_at_least_three_wordings() -> None:
    few = [name for name, shapes in _wordings("zh").items() if min(map(len, shapes.values())) < 3]
    assert few == []


def test_equations_evaluate_to_their_answers(lang: str, stories: list[Story], rows: list[Row]) -> None:
    for story, row in zip(stories, rows, strict=True):
        worth = evaluate(parse(story.equation), (), PI_VALUE[lang])
        assert worth == pytest.approx(story.answer, rel=1e-12), story
        assert matches(worth, row["answer"]), row


def test_a_bundled_equation_is_verified_by_its_answer(rows: list[Row]) -> None:
    for row in rows:
        assert verify(row["equation"], _numbers(row), row["answer"]).ok, row


def test_answers_are_exact_unless_pi_takes_part(lang: str, stories: list[Story]) -> None:
    inexact = lang != "zh"
    assert all(isinstance(story.answer, float) == (inexact and "π" in story.equation) for story in stories)


def test_a_chinese_circle_has_an_answer_of_at_most_two_more_decimals() -> None:
    circles = [s for s in write_stories("zh", COUNTS["zh"], SEED) if "π" in s.equation]
    assert circles
    for story in circles:
        assert isinstance(story.answer, Fraction) and (story.answer * 100).denominator == 1, story


def test_every_number_of_an_equation_is_in_its_text_or_1_or_pi(
    lang: str, rows: list[Row], templates: list[Expr]
) -> None:
    for row, template in zip(rows, templates, strict=True):
        numbers = _numbers(row)
        assert all(index < len(numbers) for index in _used(template))
        assert matches(evaluate(template, numbers, PI_VALUE[lang]), row["answer"]), row


def test_no_number_stands_in_a_text_twice(rows: list[Row]) -> None:
    for row in rows:
        assert len(set(_numbers(row))) == len(_numbers(row)), row["text"]


def test_answers_are_sensible(stories: list[Story]) -> None:
    for story in stories:
        assert -100 < float(story.answer) < 1_000_000
        assert story.answer > 0 or story.kind.startswith("weather"), story
        if isinstance(story.answer, Fraction) and story.kind.split(".")[0] in ("owning", "groups", "ages"):
            assert story.answer.denominator == 1, story
        if story.kind.startswith("money") and isinstance(story.answer, Fraction):
            assert (story.answer * 10_000).denominator == 1, story


def test_equations_have_one_to_four_operators_in_the_stated_shares(templates: list[Expr]) -> None:
    lengths = Counter(count_operators(template) for template in templates)
    shares = {length: count / len(templates) for length, count in lengths.items()}
    assert shares == pytest.approx({1: 0.45, 2: 0.33, 3: 0.15, 4: 0.07}, abs=0.03)


def test_about_three_in_ten_texts_have_a_number_that_is_not_used(
    rows: list[Row], templates: list[Expr]
) -> None:
    unused = [
        len(_numbers(row)) - len(_used(template)) for row, template in zip(rows, templates, strict=True)
    ]
    assert 0.24 < sum(count > 0 for count in unused) / len(rows) < 0.36
    assert max(unused) == 2


def test_no_template_solves_more_than_its_share(rows: list[Row], templates: list[Expr]) -> None:
    classes: dict[int, Counter[int]] = defaultdict(Counter)
    for row, template in zip(rows, templates, strict=True):
        classes[len(_numbers(row))][klass(template)] += 1
    for size, counts in classes.items():
        if counts.total() >= ENOUGH_FOR_A_SHARE:
            share = max(counts.values()) / counts.total()
            assert share <= LARGEST_TEMPLATE_SHARE, f"{share:.0%} of the texts with {size} numbers"


def test_the_order_in_the_text_does_not_give_away_the_order_in_the_equation(templates: list[Expr]) -> None:
    orders: Counter[bool] = Counter()
    for template in templates:
        used = [node.index for node in postorder(template) if isinstance(node, Ref)]
        if len(used) == 2 and used[0] != used[1] and getattr(template, "op", "") in "-/":
            orders[used[0] < used[1]] += 1
    assert min(orders.values()) > 0.3 * orders.total()


def test_one_text_in_five_is_for_testing(rows: list[Row]) -> None:
    assert 0.18 < sum(row["split"] == "test" for row in rows) / len(rows) < 0.22


def test_no_text_is_on_both_sides_of_the_split_with_other_numbers(lang: str, rows: list[Row]) -> None:
    sides = defaultdict(set)
    for row in rows:
        sides[masked(row["text"], lang)].add(row["split"])
    assert all(len(split) == 1 for split in sides.values())


def test_texts_write_numbers_in_many_ways() -> None:
    english = [story.text for story in write_stories("en", 1200, SEED)]
    hindi = [story.text for story in write_stories("hi", 400, SEED)]
    for sign, texts in (
        ("%", english),
        ("3/4", english),
        ("twice", english),
        ("dozen", english),
        ("half", english),
    ):
        assert any(sign in text for text in texts), sign
    chinese = [story.text for story in write_stories("zh", 400, SEED)]
    for sign in ("%", "折", "分之", "/", ".5", "三", "十"):
        assert any(sign in text for text in chinese), sign
    assert any("," in text and find_numbers(text, "en")[0].value >= 1000 for text in english)
    assert 0.08 < sum(any("०" <= letter <= "९" for letter in text) for text in hindi) / len(hindi) < 0.25
    assert any(word in text.split() for text in hindi for word in ("तीन", "पाँच", "सात"))
    assert any(word in text.split() for text in hindi for word in ("दुगुने", "दुगुनी"))
    assert sum(any(letter.isdigit() for letter in text) for text in english) > 0.95 * len(english)


def test_masking_leaves_only_one_sign_for_every_number() -> None:
    assert (
        masked("Ravi has three of 1,250 pens, 25% of them red.", "en")
        == "Ravi has # of # pens, # of them red."
    )


def test_a_kind_with_a_single_text_is_for_training() -> None:
    story = Story("one.kind", "What is 3 + 4?", "3 + 4", Fraction(7), "en")
    assert [row["split"] for row in story_rows([story], seed=0)] == ["train"]


def _number(whole: int) -> Number:
    return Number(Fraction(whole), str(whole))


quantities: st.SearchStrategy[Quantity] = st.recursive(
    st.integers(1, 60).map(_number) | st.sampled_from([Number(Fraction(3, 4), "3/4"), ONE]),
    lambda inner: st.builds(Operation, st.sampled_from("+-*/"), inner, inner),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(quantities)
def test_what_is_written_is_worth_what_was_computed(quantity: Quantity) -> None:
    try:
        worth = value(quantity)
    except ZeroDivisionError:
        return
    assert evaluate(parse(written(quantity))) == worth
    assert count_operators(parse(written(quantity))) >= steps(quantity)


def _op(left: Quantity, op: str, right: Quantity) -> Operation:
    return Operation(op, left, right)


def test_brackets_are_written_only_where_they_are_needed() -> None:
    a, b, c, part = _number(50), _number(12), _number(4), Number(Fraction(3, 4), "3/4")
    assert written(_op(_op(a, "-", b), "/", c)) == "(50 - 12) / 4"
    assert written(_op(a, "-", _op(b, "+", c))) == "50 - (12 + 4)"
    assert written(_op(a, "+", _op(b, "*", c))) == "50 + 12 * 4"
    assert written(_op(part, "*", a)) == "3/4 * 50"
    assert written(_op(a, "/", part)) == "50 / (3/4)"
    assert written(_op(a, "*", _op(ONE, "-", part))) == "50 * (1 - 3/4)"


def test_pi_makes_an_answer_a_float() -> None:
    area = _op(_op(PI, "*", _number(7)), "*", _number(7))
    worth = value(area)
    assert isinstance(worth, float) and worth == pytest.approx(math.pi * 49)
    assert written(area) == "π * 7 * 7"
