"""A server that answers anything: sentences, an end, and a store that keeps what it had."""

import gzip
import json
import socket
import threading
from contextlib import closing, contextmanager, suppress
from uuid import uuid4

import pytest
from click.testing import CliRunner
from pretended import (
    KEY,
    REFRESH,
    STEPS,
    PretendedStudio,
    Raw,
    client_of,
    http,
    question,
    rows,
    serving,
)

import annotation.api
import annotation.client
import annotation.http
from annotation.annotator import LabelStudio
from annotation.check import who
from annotation.client import LabelStudioError, Unreachable
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.reconcile import reconcile
from annotation.store import TaskStore
from annotation.summary import AnnotationSummary
from toolkit.cli import main
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.errors import WarmkitError

NAMES = ("a", "b", "c")
EXCHANGE = ("POST", "/api/token/refresh/")


def responses(store):
    return {response.problem_id: (response.kind, response.equation) for response in store.responses()[0]}


@pytest.fixture
def studio():
    return PretendedStudio()


@pytest.fixture
def url(studio):
    with serving(studio) as url:
        yield url


@pytest.fixture
def client(url):
    with client_of(url) as client:
        yield client


@pytest.fixture
def store(studio, client, tmp_path):
    """Three tasks, the first two of which are annotated."""
    with closing(TaskStore(tmp_path / "store")) as store:
        ensure_project(client, store, "title")
        push(client, store, [question(name) for name in NAMES])
        studio.annotate(11)
        studio.annotate(12)
        assert pull(client, store).new == 2
        yield store


ODD = {
    "html": http(b"<html><body>Sign in, please</body></html>", "200 OK", "Content-Type: text/html"),
    "nothing": http(b""),
    "no content": http(b"", "204 No Content"),
    "not utf-8": http(b'{"tasks": "\xff\xfe"}'),
    "cut": Raw(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"tasks": ['),
    "no http": Raw(b"220 mail.example.org ESMTP\r\n"),
    "reset": Raw(b""),
    "deep": http(b"[" * 100_000 + b"]" * 100_000),
    "deep object": http(b'{"results":' * 50_000),
    "long number": http(b'{"id": ' + b"9" * 10_000 + b"}"),
    "bad gzip": http(b"xxxx", "200 OK", "Content-Encoding: gzip"),
    "error that is long": http(b"<script>" * 100_000, "400 Bad Request"),
    "error that is deep": http(b"[" * 1_900 + b"]" * 1_900, "400 Bad Request"),
    "error with the key": http(json.dumps({"detail": KEY + REFRESH}).encode(), "400 Bad Request"),
    "redirect": http(b"", "302 Found", "Location: http://127.0.0.1:9/elsewhere"),
    "redirect to nowhere": http(b"", "302 Found", "Location: http://[::::"),
    "gone": http(b"<h1>404</h1>", "404 Not Found"),
    "busy": http(b"", "429 Too Many Requests", "Retry-After: 99999999"),
    "strange status": http(b"{}", "299 Whatever"),
    **{repr(value): value for value in (None, [], {}, 3, "x", True, float("nan"), [None])},
    **{repr(value): value for value in ({"id": None}, {"id": -1}, {"id": 10**30})},
    "surrogates": {"release": "\ud800", "email": "\ud800", "title": "\ud800", "label_config": "\ud800"},
    "5 MB": {"release": "x" * 5_000_000, "email": "x" * 5_000_000, "tasks": "x" * 5_000_000},
    "other shapes": {"results": {"id": 7}, "tasks": {"11": {}}, "task_ids": "11", "id": "7"},
    "nulls": {"results": [None], "tasks": [None], "task_ids": [None], "id": None, "access": None},
    "empty": {"results": [], "tasks": [], "task_ids": [], "id": 7, "access": ""},
    "old ids": {"task_ids": [11, 11, 11, 11], "tasks": [{"id": 11}], "access": "two words"},
    "floats": {"tasks": [{"id": 11.0}], "results": [{"id": 7, "task_number": 1e300}], "access": "a\nb"},
    "huge ids": {"tasks": [{"id": 10**30, "annotations": []}], "task_ids": [10**30], "id": 10**30},
}


@pytest.mark.parametrize("odd", ODD)
def test_whatever_a_server_says_is_a_sentence_and_the_store_keeps_what_it_had(odd, studio, url, store):
    before = rows(store)
    for step in STEPS.values():
        studio.asked.clear()
        studio.lie = lambda method, path, honest: honest
        with client_of(url) as client:
            step(client, store)
        studio.annotate(13, uuid4().hex)
        for lied in dict.fromkeys((*((method, path) for method, path, _ in studio.asked), EXCHANGE)):
            studio.lie = lambda method, path, honest, lied=lied: (
                ODD[odd] if (method, path) == lied else honest
            )
            with client_of(url, REFRESH if lied == EXCHANGE else KEY) as client:
                try:
                    step(client, store)
                except LabelStudioError as error:
                    assert url in str(error) and len(str(error)) < 1_000
                    assert client.connection.key not in str(error)
    studio.lie = lambda method, path, honest: honest
    assert before <= rows(store)
    with client_of(url) as client:
        pull(client, store)
    assert {name: responses(store)[name] for name in "ab"} == dict.fromkeys("ab", ("equation", "76 - 25"))
    summary = AnnotationSummary(store, DEFAULT_CONSTANTS)
    assert len(summary.table()) == summary.status().answered == 3


def test_a_page_that_comes_for_ever_ends_with_a_sentence(studio, client, store, monkeypatch):
    page = [
        {"id": n, "data": {}, "annotations": [], "total_annotations": 0, "cancelled_annotations": 0}
        for n in range(1, annotation.api.PAGE + 1)
    ]
    studio.lie = lambda method, path, honest: {"tasks": page} if path == "/api/tasks/" else honest
    with pytest.raises(LabelStudioError, match="task 1 comes after task 500"):
        reconcile(client, store)
    monkeypatch.setattr(annotation.api, "MOST_PAGES", 5)
    first = iter(range(0, 10**9, annotation.api.PAGE))

    def new_ones(method, path, honest):
        start = next(first)
        return {"tasks": [{**task, "id": start + task["id"]} for task in page]}

    studio.lie = new_ones
    with pytest.raises(LabelStudioError, match="no end after 5 pages"):
        reconcile(client, store)
    assert next(first) == 5 * annotation.api.PAGE


def test_projects_without_end_end_with_a_sentence(studio, client, tmp_path, monkeypatch):
    monkeypatch.setattr("annotation.project.MOST_PAGES", 5)
    studio.lie = lambda method, path, honest: {"results": [], "next": "more"}
    with closing(TaskStore(tmp_path / "new")) as store:
        store.mark()
        with pytest.raises(LabelStudioError, match="no end after 5"):
            ensure_project(client, store, "title")


@pytest.mark.parametrize(
    "change",
    [
        *({"id": value} for value in (None, "x", -5, 10**30, 7.5, True)),
        *({"updated_at": value} for value in ("0001-01-01T00:00:00+14:00", "99999-01-01", "soon", [], 9)),
        *({"result": value} for value in ("x", {"a": 1}, json.loads("[" * 500 + "]" * 500))),
        *({"completed_by": value} for value in (-1, [], "x" * 5_000_000, {"id": None})),
        {"was_cancelled": "no"},
    ],
    ids="".join,
)
def test_one_annotation_that_is_odd_is_skipped_and_told_while_the_others_count(studio, client, store, change):
    before = responses(store)
    studio.annotate(13)
    studio.tasks[12]["annotations"][0] |= change
    pulled = pull(client, store)
    assert pulled.new == 1
    (warning,) = pulled.warnings
    assert f"{client.url}: task 12: an annotation is skipped ({next(iter(change))}" in warning
    assert len(warning) < 500
    assert responses(store) == {**before, "c": ("equation", "76 - 25")}
    studio.annotate(12, "76 - 25 + 0")
    assert pull(client, store) == type(pulled)(1)
    assert responses(store)["b"] == ("equation", "76 - 25 + 0")


def test_an_annotation_that_moves_to_another_task_is_skipped(studio, client, store):
    studio.tasks[13]["annotations"] = studio.tasks[12]["annotations"]
    (warning,) = pull(client, store).warnings
    assert "task 13: an annotation is skipped (id: annotation 112 belongs to task 12)" in warning
    assert set(responses(store)) == {"a", "b"}


def test_a_list_that_lacks_tasks_which_the_server_counts_takes_nothing_away(studio, client, store):
    studio.lie = lambda method, path, honest: {"tasks": []} if path == "/api/tasks/" else honest
    with pytest.raises(Unreachable, match="has 3 tasks, but only 0 are listed"):
        reconcile(client, store)
    assert list(store.tasks()) == [11, 12, 13]


def test_a_task_that_comes_back_is_about_the_same_problem(studio, client, store):
    task = studio.tasks.pop(12)
    reconcile(client, store)
    studio.tasks[12] = {**task, "data": {**task["data"], "problem_id": "c"}, "annotations": []}
    reconcile(client, store)
    assert store.tasks()[12].problem_id == "b"


@pytest.mark.parametrize(
    "date",
    [
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Mon, 01 Jan 0001 00:00:00 +1400",
        "Thu, 01 Jan 2200 00:00:00 GMT",
        "soon",
        "",
        "Fri, 99 Foo 2026 99:99:99 GMT",
    ],
)
def test_an_absurd_clock_makes_later_pulls_slower_and_nothing_worse(studio, client, store, date):
    def dated(method, path, honest):
        return http(json.dumps(honest).encode(), "200 OK", f"Date: {date}")

    studio.lie = dated
    pull(client, store)
    assert store.fact("cursor") < "2200"
    studio.annotate(13)
    assert pull(client, store).new == 1


@contextmanager
def unending(sent):
    studio = PretendedStudio()
    studio.lie = lambda method, path, honest: Raw(sent, hangs=True)
    with serving(studio) as url:
        yield url


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-A",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
)
def test_a_server_that_stops_in_the_middle_is_given_up(sent):
    with (
        unending(sent) as url,
        client_of(url, timeout=0.2) as client,
        pytest.raises(Unreachable, match="no answer in"),
    ):
        who(client)


@pytest.mark.parametrize(
    ("start", "piece"), [(b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), (b"X-Long: ", b"x")]
)
def test_an_answer_that_trickles_for_ever_is_given_up(start, piece):
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle():
            caller, _ = listener.accept()
            with caller, suppress(OSError):
                caller.sendall(b"HTTP/1.1 200 OK\r\n" + start)
                while not over.wait(0.05):
                    caller.sendall(piece)

        thread = threading.Thread(target=trickle)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with client_of(url, timeout=0.2) as client, pytest.raises(Unreachable, match="no end of it"):
            client.request("waiting", "POST", "x")
        over.set()
        thread.join()


@pytest.mark.parametrize("how", ["plain", "gzip"])
def test_an_answer_that_is_too_large_is_not_read_to_its_end(studio, url, how, monkeypatch):
    monkeypatch.setattr(annotation.http, "LARGEST", 1_000_000)
    body = b" " * 20_000_000
    answer = http(gzip.compress(body), "200 OK", "Content-Encoding: gzip") if how == "gzip" else http(body)
    studio.lie = lambda method, path, honest: answer
    with client_of(url) as client, pytest.raises(LabelStudioError, match="larger than 1,000,000 bytes"):
        who(client)


def test_a_key_never_follows_a_redirect(studio, url):
    elsewhere = PretendedStudio()
    with serving(elsewhere) as other:
        studio.lie = lambda method, path, honest: http(
            b"", "307 Temporary Redirect", f"Location: {other}{path}"
        )
        for key in (KEY, REFRESH):
            with (
                client_of(url, key) as client,
                pytest.raises(LabelStudioError, match=f"to {other}"),
            ):
                who(client)
    assert elsewhere.asked == []


def test_a_personal_token_is_exchanged_once_and_again_when_it_has_expired(studio, url):
    with client_of(url, REFRESH) as client:
        for _ in range(3):
            assert who(client) == "ann@example.com"
        exchanges = [path for _, path, _ in studio.asked].count("/api/token/refresh/")
        assert exchanges == 1
        refused = iter([True])
        studio.lie = lambda method, path, honest: (
            http(b"{}", "401 Unauthorized") if path.endswith("whoami") and next(refused, False) else honest
        )
        assert who(client) == "ann@example.com"
        assert [path for _, path, _ in studio.asked].count("/api/token/refresh/") == 2


@pytest.mark.parametrize("odd", ["html", "deep", "[None]", "5 MB", "floats"])
def test_a_command_prints_one_sentence_and_exits_with_1(odd, studio, url, store, monkeypatch, tmp_path):
    monkeypatch.setenv("LABEL_STUDIO_URL", url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", KEY)
    monkeypatch.setenv("WARMKIT_HOME", str(tmp_path))
    monkeypatch.setattr(annotation.client, "PAUSES", ())
    studio.lie = lambda method, path, honest: ODD[odd]
    for words in (
        ["connect", url],
        ["pull", "--store", str(store.folder)],
        ["status", "--store", str(store.folder)],
    ):
        done = CliRunner().invoke(main, ["annotate", *words])
        assert done.exit_code == 1
        assert isinstance(done.exception, SystemExit)
        assert done.output.startswith(f"Error: {url}: ") and len(done.output) < 1_000


def test_a_loop_that_waits_ends_with_a_sentence_and_can_be_resumed(studio, client, store):
    annotator = LabelStudio(client, store.folder, "title")
    with closing(annotator.store):
        assert len(annotator.collect()) == 2
        studio.annotate(13)
        studio.lie = lambda method, path, honest: ODD["html"]
        with pytest.raises(WarmkitError, match="not one of Label Studio"):
            annotator.collect()
        studio.lie = lambda method, path, honest: honest
        assert [response.problem_id for response in annotator.collect()] == ["c"]
