"""Answers of Label Studio, changed at random: a result or a sentence, an end, and nothing recorded is lost."""

import json
import random
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pretended import KEY, REFRESH, STEPS, PretendedStudio, Raw, client_of, http, question, rows, serving

from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from annotation.summary import AnnotationSummary
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.errors import WarmkitError

ODD = (
    *(None, True, False, 0, -1, 1, 7, 11, 12, 10**30, -(10**30), 2**63, 1e308, float("nan"), float("inf")),
    *(
        "",
        "x",
        "7",
        "\ud800",
        "\x1b[2J",
        "x" * 100_000,
        "<script>",
        KEY,
        "2026-01-01",
        "0001-01-01T00:00:00+14:00",
    ),
    *("9999-12-31T23:59:59-14:00", [], {}, [None], [[]], {"id": 1}, json.loads("[" * 300 + "]" * 300)),
)
STATUS = (
    "200 OK",
    "204 No Content",
    "302 Found",
    "400 Bad",
    "401 No",
    "404 Not Found",
    "409 Conflict",
    "503 Busy",
)
HEADERS = (
    *("Content-Type: text/html", "Content-Encoding: gzip", "Location: http://127.0.0.1:9/", "Date: soon"),
    *("Set-Cookie: a=b; expires=never; domain=..", "Date: Fri, 31 Dec 9999 23:59:59 GMT", "X: \x80"),
)


def changed(rng: random.Random, value: object) -> object:
    """A value with one change somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(list(value))
        if rng.random() < 0.15:
            return {other: part for other, part in value.items() if other != name}
        return {**value, name: changed(rng, value[name])}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        match rng.randrange(6):
            case 0:
                return value[:place] + value[place + 1 :]
            case 1:
                return value + value
            case 2:
                return rng.sample(value, len(value))
            case _:
                return [*value[:place], changed(rng, value[place]), *value[place + 1 :]]
    if isinstance(value, int | float) and rng.random() < 0.3:
        return value + rng.choice((-1, 1, 0.5, 10**6))
    if isinstance(value, str) and rng.random() < 0.3:
        place = rng.randrange(len(value) + 1)
        return value[:place] + rng.choice(("\ud800", "9", "\0", "é")) + value[place + 1 :]
    return rng.choice(ODD)


def damaged(rng: random.Random, value: object) -> Raw:
    """The bytes of an answer with some of them wrong."""
    body = bytearray(json.dumps(value).encode())
    for _ in range(rng.randrange(4)):
        body[rng.randrange(len(body))] = rng.randrange(256)
    sent = bytearray(http(bytes(body), rng.choice(STATUS), rng.choice(HEADERS)).sent)
    if rng.random() < 0.3:
        sent[rng.randrange(len(sent))] = rng.randrange(256)
    return Raw(bytes(sent[: rng.randrange(len(sent))] if rng.random() < 0.2 else sent))


def lies(rng: random.Random):
    share = rng.choice((0.05, 0.2, 0.6))

    def lie(method: str, path: str, honest: object) -> object:
        if rng.random() > share or not isinstance(honest, dict | list):
            return honest
        for _ in range(rng.choice((1, 1, 1, 3))):
            honest = changed(rng, honest)
        return damaged(rng, honest) if rng.random() < 0.15 else honest

    return lie


@pytest.fixture
def studio():
    return PretendedStudio()


def test_an_answer_of_any_shape_is_a_sentence_or_a_result(cases, studio):
    with serving(studio) as url:
        for rng in cases(60):
            studio.reset()
            with (
                TemporaryDirectory() as folder,
                closing(TaskStore(Path(folder))) as store,
                client_of(url) as client,
            ):
                store._db.execute("PRAGMA synchronous = OFF")
                ensure_project(client, store, "title")
                push(client, store, [question(name) for name in "abc"])
                studio.annotate(11)
                studio.annotate(12)
                pull(client, store)
                before = rows(store)
                studio.annotate(13)
                studio.lie = lies(rng)
                client.connection = type(client.connection)(url, rng.choice((KEY, KEY, KEY, REFRESH)))
                for name in rng.choices(list(STEPS), k=6):
                    try:
                        STEPS[name](client, store)
                    except WarmkitError as error:
                        assert url in str(error) and client.connection.key not in str(error)
                        assert len(str(error)) < 1_000
                assert before <= rows(store)
                summary = AnnotationSummary(store, DEFAULT_CONSTANTS)
                assert summary.status().tasks >= 0 and summary.table() is not None
