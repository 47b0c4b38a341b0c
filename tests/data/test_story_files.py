"""The story files: the small grammar that they are written in, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from random import Random
from textwrap import dedent, indent

import pytest

from toolkit.data.stories import languages, story_language
from toolkit.data.stories.draw import Draw, Redraw, grouped
from toolkit.data.stories.story_file import StoryLanguage, load_language
from toolkit.data.stories.telling import draft_story, tell_all
from toolkit.errors import WarmkitError

HEAD = """\
genders: m f
numbers:
  notes: [10, 20, 50]
words:
  people:
  - {gender: m, he: he, words: "Aldo, Beno"}
  - {gender: f, he: she, words: "Cara, Dina"}
  fruit:
  - {forms: one / many, most: 30, words: "apple / apples, pear / pears"}
  things: [fruit]
asides:
  about(who):
    say: |
      {who} is {whole(20, 30)} years old.
      {who} has {whole(31, 40)} cousins.
"""
KIND = """\
draw: |
  who = pick(people)
  what = pick(things)
  had = whole(12, 19)
  gone = whole(2, 9)
equation: had - gone
wordings: |
  {who} had {had} {what.many}. {who.he} lost {gone}. How many are left?
  {who} lost {gone} {what.many} of {who:his|her} {had}. How many are left?
asides: about(who)
"""


def _load(tmp_path: Path, kind: str = KIND, head: str = HEAD, name: str = "xx") -> StoryLanguage:
    path = tmp_path / f"{name}.yaml"
    path.write_text(f"{head}kinds:\n  losing.some:\n{indent(dedent(kind), '    ')}", encoding="utf-8")
    load_language.cache_clear()
    return load_language(path)


def _refused(tmp_path: Path, old: str, new: str) -> str:
    """What is said of a file in which something was replaced."""
    assert old in HEAD + KIND
    with pytest.raises(WarmkitError) as refusal:
        _load(tmp_path, KIND.replace(old, new), HEAD.replace(old, new))
    return str(refusal.value)


def _texts(language: StoryLanguage, tries: int = 60) -> set[str]:
    found = set()
    for seed in range(tries):
        draw = Draw(Random(seed), language.style)
        try:
            draft = draft_story(language.kinds["losing.some"], draw, language)
        except Redraw:
            continue
        found.add("".join(_said(letter, draw) for letter in draft.text))
    return found


def _said(letter: str, draw: Draw) -> str:
    return next((number.spoken for number in draw.numbers if number.mark == letter), letter)


# A language is a file


def test_a_language_is_added_by_adding_one_file(tmp_path: Path) -> None:
    stories = tell_all(_load(tmp_path, name="eo"), count=20, seed=1)
    assert len({story.text for story in stories}) == 20
    assert all(story.lang == "eo" and story.kind == "losing.some" for story in stories)
    assert all(isinstance(story.answer, Fraction) and story.answer > 0 for story in stories)
    assert any("cousins" in story.text or "years old" in story.text for story in stories)


def test_the_languages_are_the_files() -> None:
    assert languages() == ["en", "hi", "zh"]
    assert [story_language(lang).lang for lang in languages()] == languages()


def test_a_file_is_read_once(tmp_path: Path) -> None:
    assert _load(tmp_path) is load_language(tmp_path / "xx.yaml")


def test_no_story_file_is_read_when_the_package_is_imported() -> None:
    code = (
        "import json, yaml\n"
        "def refuse(*args, **options): raise AssertionError('YAML was read')\n"
        "yaml.load = yaml.safe_load = refuse\n"
        "import toolkit.data, toolkit.data.stories, toolkit.cli.data.generate\n"
        "print(json.dumps(toolkit.data.stories.languages()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["en", "hi", "zh"]


# What is refused


def test_a_slot_that_nothing_draws_is_refused(tmp_path: Path) -> None:
    message = _refused(tmp_path, "{who} lost", "{whoever} lost")
    assert message == "xx.yaml: losing.some: whoever is used, but not drawn."


def test_a_list_of_words_is_no_slot(tmp_path: Path) -> None:
    assert "fruit is used, but not drawn" in _refused(tmp_path, "{what.many}. {who.he}", "{fruit}. {who.he}")


def test_an_equation_with_an_unknown_number_is_refused(tmp_path: Path) -> None:
    message = _refused(tmp_path, "equation: had - gone", "equation: had - lost")
    assert message == "xx.yaml: losing.some: the equation uses lost, which is not drawn."


def test_a_wording_without_a_number_of_the_equation_is_refused(tmp_path: Path) -> None:
    message = _refused(tmp_path, "{who.he} lost {gone}.", "{who.he} lost some.")
    assert message == ("xx.yaml: losing.some: the equation uses gone, but wording 1 does not mention it.")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("whole(2, 9)", "hole(2, 9)", "losing.some: there is no function hole()"),
        ("whole(2, 9)", "__import__('os')", "losing.some: there is no function __import__()"),
        ("whole(2, 9)", "who.__class__", "losing.some: no word has a form .__class__"),
        ("whole(2, 9)", "people[0]", "losing.some: can't use 'people[0]'"),
        ("whole(2, 9)", "(lambda: 3)()", "losing.some: can't use '(lambda: 3)()'"),
        ("whole(2, 9)", "whole(2,", "losing.some.draw: can't read 'whole(2,'"),
        ("gone = whole", "2 = whole", "losing.some.draw: can't read '2 = whole(2, 9)'"),
        ("had - gone", "had - gone * 2", "losing.some: an equation can't have '2'"),
        ("had - gone", "had ** gone", "losing.some: an equation can't have 'had ** gone'"),
        ("had - gone", "had - gone - 1 - 1 - 1 - 1", "losing.some: an equation has one to four operators"),
        ("had - gone", "had - (1 if hole(2) else gone)", "losing.some: there is no function hole()"),
        ("had - gone", "had", "losing.some: an equation has one to four operators"),
        ("{who.he} lost", "{who.him} lost", "losing.some: no word has a form .him"),
        ("{who:his|her}", "{who:his}", "losing.some: {who:his} needs 2 forms, one a gender"),
        ("{who:his|her}", "{you:his|her}", "losing.some: you is used, but not drawn"),
        ("{who} lost", "{who lost", "the braces do not match"),
        ("asides: about(who)", "asides: beyond(who)", "losing.some: there is no function beyond()"),
        ("{who} has {whole", "{him} has {whole", "asides: about: him is used, but not drawn"),
        ("about(who):", "about who:", "asides: 'about who' is not a name"),
        ("apple / apples", "apple / apples / of apples", "words: fruit: 'apple / apples / of apples' must"),
        ("gender: f", "gender: n", "words: people: the gender n is not one of m, f"),
        ("things: [fruit]", "things: [fruits]", "words: things: there is no list fruits above"),
        ("equation: had - gone", "equals: had - gone", "kinds.losing.some.ask.0.equation: Field required"),
        ("wordings: |", "wording: |", "kinds.losing.some.ask.0.wordings: Field required"),
        (
            "asides: about(who)",
            "aside: about(who)",
            "losing.some.ask.0.aside: Extra inputs are not permitted",
        ),
        ("genders: m f", "genders: [m", "this is not YAML"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_kind(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    message = _refused(tmp_path, old, new)
    assert "xx.yaml" in message and sentence in message


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WarmkitError, match=r"yy\.yaml: it can't be read"):
        load_language(tmp_path / "yy.yaml")


def test_questions_of_a_kind_have_equally_many_operators(tmp_path: Path) -> None:
    kind = """\
        draw: a = whole(2, 9)
        ask:
        - equation: a + 1
          wordings: What comes after {a}?
        - equation: a + 1 + 1
          wordings: What comes after the next of {a}?
        """
    with pytest.raises(WarmkitError, match="all equations of a kind equally many"):
        _load(tmp_path, kind)


def test_a_number_that_is_not_said_can_not_stand_in_a_text(tmp_path: Path) -> None:
    language = _load(tmp_path, KIND.replace("gone = whole(2, 9)", "gone = between(2, 9)"))
    with pytest.raises(WarmkitError, match=r"xx\.yaml: losing\.some: gone is not said: write say\(gone\)"):
        tell_all(language, 1, seed=0)


def test_a_draw_that_can_not_be_made_is_named_with_its_file_and_kind(tmp_path: Path) -> None:
    language = _load(tmp_path, KIND.replace("gone = whole(2, 9)", "gone = whole(9, 2)"))
    with pytest.raises(WarmkitError, match=r"xx\.yaml: losing\.some: empty range"):
        tell_all(language, 1, seed=0)


# What is written


def test_words_agree(tmp_path: Path) -> None:
    for text in _texts(_load(tmp_path)):
        man = text.startswith(("Aldo", "Beno"))
        assert ("she lost" not in text and " her " not in text) if man else " his " not in text
        assert "apples" in text or "pears" in text


def test_a_condition_holds_in_every_story(tmp_path: Path) -> None:
    kind = """\
        draw: |
          a, b = whole(2, 9), whole(2, 9)
          need(a > b and (a + b) % 3 == 0 and all_different(a, b, 4) and not a == 8)
        equation: a - b
        wordings: How much is {a} less {b}?
        """
    texts = _texts(_load(tmp_path, kind), tries=400)
    pairs = {(int(text.split()[3]), int(text.split()[5][:-1])) for text in texts}
    assert len(pairs) > 3
    assert all(a > b and (a + b) % 3 == 0 and 4 not in (a, b) and a != 8 for a, b in pairs)


def test_an_equation_may_choose_between_two_numbers(tmp_path: Path) -> None:
    kind = """\
        draw: |
          a, b = digits(2, 5), digits(6, 9)
          which, large = one_of(("larger", True), ("smaller", False))
        equation: (b if large else a) + 1
        wordings: Take the {which} of {a} and {b}. What comes next?
        """
    for story in tell_all(_load(tmp_path, kind), 6, seed=0):
        a, b = sorted(int(letter) for letter in story.text if letter.isdigit())
        assert story.answer == (b if "larger" in story.text else a) + 1


def test_a_comment_may_stand_among_the_draws(tmp_path: Path) -> None:
    kind = KIND.replace("  had = whole", "  # how many at first\n  had = whole").replace(
        "9)\n", "9)  # some\n"
    )
    assert _texts(_load(tmp_path, kind)) == _texts(_load(tmp_path))


def test_a_question_is_asked_only_if_its_condition_holds(tmp_path: Path) -> None:
    kind = """\
        draw: |
          a = digits(2, 9)
          name = "{one_of('an', 'the')} even" if a % 2 == 0 else "odd"
        ask:
        - if: a % 2 == 0
          equation: a + 1
          wordings: What follows {name} number {a}?
        - if: a % 2 == 1
          draw: b = say(a + 1)
          equation: b - 1
          wordings: What stands before {b}, after an {name} number?
        """
    texts = _texts(_load(tmp_path, kind))
    assert {text.split()[1] for text in texts} == {"follows", "stands"}
    for text in texts:
        number = int("".join(filter(str.isdigit, text)))
        assert number % 2 == 0 and ("even" in text) == ("follows" in text)


def test_several_questions_without_a_condition_are_all_asked_at_times(tmp_path: Path) -> None:
    kind = """\
        draw: a = whole(2, 9)
        ask:
        - equation: a + 1
          wordings: What comes after {a}?
        - equation: a - 1
          wordings: What comes before {a}?
        """
    assert {text.split()[2] for text in _texts(_load(tmp_path, kind))} == {"after", "before"}


def test_an_aside_is_one_line_of_each_paragraph_and_never_the_last_sentence(tmp_path: Path) -> None:
    kind = KIND.replace(
        "asides: about(who)", "asides: |\n  about(who)\n\n  It rains for {whole(41, 50)} days."
    )
    texts = _texts(_load(tmp_path, kind), tries=300)
    assert all(text.endswith("How many are left?") for text in texts)
    assert not any("years old" in text and "cousins" in text for text in texts)
    assert any("It rains" in text for text in texts) and any("years old" in text for text in texts)


def test_an_aside_about_somebody_whom_the_wording_does_not_name_is_left_out(tmp_path: Path) -> None:
    kind = KIND.replace("asides: about(who)", "asides: about(other)")
    kind = kind.replace("who = pick(people)", "who, other = mixed(people, 2)")
    assert not any("years old" in text for text in _texts(_load(tmp_path, kind), tries=100))


def test_a_file_may_say_what_pi_is_worth(tmp_path: Path) -> None:
    kind = "draw: r = whole(2, 9)\nequation: π * r * r\nwordings: How large is a circle of radius {r}?\n"
    exact = tell_all(_load(tmp_path, kind, 'pi: "3.14"\n' + HEAD), 3, 0)
    assert all(isinstance(story.answer, Fraction) and "π" in story.equation for story in exact)
    rounded = tell_all(_load(tmp_path, kind), 3, 0)
    assert all(isinstance(story.answer, float) for story in rounded)


def test_a_language_without_spaces_joins_its_sentences(tmp_path: Path) -> None:
    kind = "draw: a = whole(2, 9)\nequation: a + 1\nwordings: 有{a}人。又来一人。有多少人？\nasides: 天晴。"
    language = _load(tmp_path, kind, "spaces: no\n" + HEAD)
    texts = _texts(language)
    assert all(" " not in text and text.endswith("？") for text in texts)
    assert any("天晴。" in text for text in texts)


def test_digits_are_grouped_as_the_language_does() -> None:
    assert grouped(125_000, "thousands") == "125,000"
    assert grouped(125_000, "indian") == "1,25,000"
    assert grouped(12_345_678, "indian") == "1,23,45,678"
    assert grouped(999, "indian") == "999"


def test_too_many_stories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="different stories could be written: ask for fewer"):
        tell_all(_load(tmp_path, "draw: a = whole(2, 9)\nequation: a + 1\nwordings: After {a}?\n"), 50, 0)
