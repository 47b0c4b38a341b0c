"""Sections that show problems: what was asked and why, what is disputed, what is right by chance."""

from collections.abc import Sequence
from itertools import groupby

from toolkit.report.figures import Asked, Disputed, RunFigures, Spurious
from toolkit.report.markup import Child, Html, tag
from toolkit.report.parts import meter, missing, problem, section
from toolkit.report.values import count, known, number, percent

CARDS = 50  # of a round: more would make a page that no one reads and a phone cannot hold
CANDIDATES = 5
VERDICTS = ("accepted", "rejected", "disputed", "disagreement", "skipped", "pending")


def asked(figures: RunFigures) -> Html:
    heading = "What was asked, and why"
    how = (
        "One card is one question: the bars show how likely each equation that gives the answer was to the"
        " model; ✓ marks the one that the annotator gave."
    )
    if not figures.asked:
        return section("asked", heading, how, missing("Nobody was asked anything in this run."))
    ordered = sorted(figures.asked, key=lambda question: question.round)
    by_round = [(at, list(group)) for at, group in groupby(ordered, key=lambda question: question.round)]
    first = by_round[0][0]
    return section("asked", heading, how, [_round(at, group, at == first) for at, group in by_round])


def _round(at: int, questions: Sequence[Asked], is_open: bool) -> Html:
    verdicts = [question.verdict for question in questions]
    known_first = [*VERDICTS, *sorted(set(verdicts) - set(VERDICTS))]
    tally = ", ".join(f"{verdicts.count(name)} {name}" for name in known_first if name in verdicts)
    top = [question.was_top for question in questions if question.was_top is not None]
    favourite = f"; the model’s favourite was right {sum(top)} of {count(len(top), 'time')}" if top else ""
    more = len(questions) - CARDS
    return tag(
        "details",
        tag("summary", tag("b", f"Round {at}"), f": {count(len(questions), 'question')}, {tally}{favourite}"),
        tag("div", [_card(question) for question in questions[:CARDS]], class_="cards"),
        missing(f"{count(more, 'more question')} of this round not shown.") if more > 0 else None,
        open=is_open,
    )


def _card(question: Asked) -> Html:
    sure = f" · confidence {percent(question.confidence, 0)}" if known(question.confidence) else None
    return tag(
        "article",
        _head(question.problem_id, tag("span", question.verdict, class_=f"badge {_tone(question.verdict)}")),
        problem(question.text, question.lang),
        tag("p", "Answer ", tag("b", number(question.answer)), class_="answer"),
        tag("p", question.why or "no reason given", sure, class_="why"),
        _candidates(question),
        _response(question),
        class_="card",
    )


def _head(problem_id: str, *rest: Child) -> Html:
    return tag("header", tag("code", problem_id), *rest)


def _tone(verdict: str) -> str:
    return verdict if verdict in VERDICTS else "pending"


def _candidates(question: Asked) -> Html:
    if not question.candidates:
        return tag("p", "No equation that gives this answer was found.", class_="missing")
    given = (question.equation or "").replace(" ", "")
    items = [
        tag(
            "li",
            tag("code", equation),
            tag("span", "✓", class_="chosen", title="what the annotator gave")
            if equation.replace(" ", "") == given
            else None,
            tag("span", percent(share, 0), class_="share"),
            meter(share),
        )
        for equation, share in question.candidates[:CANDIDATES]
    ]
    rest = question.candidates[CANDIDATES:]
    more = sum(share for _, share in rest if known(share))
    remaining = tag("li", f"{len(rest)} more, together {percent(more, 0)}", class_="rest") if rest else None
    return tag("ol", items, remaining, class_="candidates")


def _response(question: Asked) -> Html:
    if question.verdict == "pending":
        return tag("p", "Waiting for the annotator.", class_="said")
    who = tag("b", question.annotator or "The annotator")
    words: list[Child] = [
        who,
        ": ",
        tag("code", question.equation) if question.equation else question.verdict,
    ]
    if question.reason:
        words.append([" – ", question.reason])
    if question.was_top is not None:
        what = "the model’s favourite" if question.was_top else "not the model’s favourite"
        words.append([" · ", tag("span", what, class_="liked" if question.was_top else "unliked")])
    return tag("p", words, class_="said")


def _few(cards: Sequence[Html], noun: str) -> list[Child]:
    more = len(cards) - CARDS
    rest = missing(f"{count(more, noun)} not shown.") if more > 0 else None
    return [tag("div", cards[:CARDS], class_="cards"), rest]


def disputed(figures: RunFigures) -> Html:
    heading = "Disputed problems"
    how = (
        "These problems were set aside for you to check: an annotator says that the answer in the data is"
        " wrong, or the equations of several annotators mean different things."
    )
    groups = {
        "The answer is disputed": [case for case in figures.disputed if not case.disagreement],
        "Annotators disagree": [case for case in figures.disputed if case.disagreement],
    }
    if not figures.disputed:
        return section("disputed", heading, how, missing("No answer was disputed, and nobody disagreed."))
    return section(
        "disputed",
        heading,
        how,
        [
            [tag("h3", name), _few([_dispute(case) for case in cases], "more problem")]
            for name, cases in groups.items()
            if cases
        ],
    )


def _dispute(case: Disputed) -> Html:
    return tag(
        "article",
        _head(
            case.problem_id,
            tag("span", "disagreement" if case.disagreement else "disputed", class_="badge disputed"),
        ),
        problem(case.text, case.lang),
        tag("p", "Answer in the data ", tag("b", number(case.answer)), class_="answer"),
        tag("p", case.note, class_="said")
        if case.disagreement
        else tag(
            "p", tag("b", case.annotator or "The annotator"), ": ", case.note or "no note", class_="said"
        ),
        class_="card",
    )


def spurious(figures: RunFigures) -> Html:
    heading = "Right answer, wrong reason"
    how = "The equation found gives the answer only by chance: with other numbers it would be wrong."
    if not figures.spurious:
        sentence = "None known: all equations found are right, or no gold equation is known to compare with."
        return section("spurious", heading, how, missing(sentence))
    return section(
        "spurious", heading, how, _few([_chance(case) for case in figures.spurious], "more example")
    )


def _chance(case: Spurious) -> Html:
    rows = [
        [tag("dt", "found"), tag("dd", tag("code", case.found), class_="wrong")],
        [tag("dt", "right"), tag("dd", tag("code", case.gold))],
    ]
    return tag(
        "article",
        _head(case.problem_id, tag("span", f"confidence {percent(case.confidence, 0)}", class_="badge")),
        problem(case.text, case.lang),
        tag("p", "Answer ", tag("b", number(case.answer)), class_="answer"),
        tag("dl", rows, class_="pair"),
        class_="card",
    )
