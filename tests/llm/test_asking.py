"""Requests to a real server of the chat protocol, with faults: nothing twice, nothing over the budget."""

import json
import time
from collections import deque

import pytest
from llm.chat_server import Fault, says

from annotation.llm import asking as asking_module
from annotation.llm.asking import MOST_FAILED, TRIES, Asking, Request
from annotation.llm.chat import LONGEST, Refused
from annotation.llm.store import ReplyStore
from toolkit.annotators.account import MemoryAccount
from toolkit.annotators.llm import LlmConfig
from toolkit.errors import WarmkitError


@pytest.fixture
def pauses(monkeypatch):
    """Pauses are short here; what each would have been is kept."""
    monkeypatch.setattr(asking_module, "FIRST_PAUSE", 0.001)
    return []


@pytest.fixture
def store(tmp_path):
    store = ReplyStore(tmp_path / "llm.sqlite")
    yield store
    store.close()


@pytest.fixture
def begin(server, store, pauses):
    def begin(**settings) -> Asking:
        config = LlmConfig.model_validate({"url": server.url, "concurrency": 2, **settings})
        return Asking(config, store, MemoryAccount(), sleep=pauses.append)

    return begin


def requests(count, seed=0):
    return deque(Request(f"p{i}", [{"role": "user", "content": f"question {i}"}], seed) for i in range(count))


def test_every_request_is_answered_and_none_is_sent_again(server, begin, store):
    first = begin()
    replies = {answered.request.name: answered.text for answered in first.replies(requests(9))}
    assert replies == {f"p{i}": says("N0 + N1") for i in range(9)}
    assert sorted(server.questions()) == [f"question {i}" for i in range(9)]
    assert server.together <= 2
    spent = first.account.spent()
    assert (spent.requests, spent.question_tokens, spent.reply_tokens) == (9, 450, 90)
    again = begin()
    assert len(list(again.replies(requests(9) + requests(9, seed=1)))) == 18
    assert again.account.spent().requests == 9 and len(server.requests) == 18
    assert {body["seed"] for body in server.requests} == {0, 1}


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(429), Fault(500), Fault(503), Fault(dropped=True), Fault(200, body=b"{'half"), Fault(408)),
        Fault(200, body=b'{"choices": []}'),
        Fault(200, body=b'{"choices": [{"message": {"content": 7}}]}'),
        Fault(200, body=b"[" * 100_000),
        Fault(429, {"Retry-After": "0"}),
        Fault(429, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}),
        Fault(429, {"Retry-After": "soon"}),
    ],
)
def test_what_passes_is_tried_again(server, begin, fault):
    server.script = lambda body, number: fault if number <= 2 else says("N0")
    asking = begin()
    assert [answered.text for answered in asking.replies(requests(3))] == [says("N0")] * 3
    assert asking.account.spent().requests == 5


def test_a_server_that_asks_for_time_gets_it(server, begin, pauses):
    server.script = lambda body, number: Fault(429, {"Retry-After": "30"}) if number == 1 else says("N0")
    (answered,) = begin(concurrency=1).replies(requests(1))
    assert answered.text == says("N0")
    assert 29 < pauses[0] <= 30


def test_who_asks_for_an_hour_is_not_waited_for(server, begin, pauses):
    server.script = lambda body, number: Fault(429, {"Retry-After": "3600"})
    (answered,) = begin().replies(requests(1))
    assert answered.text is None and "status 429" in answered.reason
    assert len(server.requests) == 1 and not pauses


def test_after_some_tries_it_is_left(server, begin):
    server.script = lambda body, number: Fault(500)
    (answered,) = begin().replies(requests(1))
    assert answered.text is None and "status 500" in answered.reason
    assert len(server.requests) == TRIES


def test_a_server_that_is_down_is_left_alone(server, begin):
    server.script = lambda body, number: Fault(500)
    found = list(begin(concurrency=1).replies(requests(20)))
    assert len(found) == 20 and not any(one.text for one in found)
    assert len(server.requests) == MOST_FAILED * TRIES
    assert sum("is down" in one.reason for one in found) == 20 - MOST_FAILED


@pytest.mark.parametrize("fault", [Fault(pause=30), Fault(endless=True)])
def test_who_says_nothing_or_never_ends_is_left(server, begin, fault, monkeypatch):
    monkeypatch.setattr(asking_module, "TRIES", 1)
    monkeypatch.setattr("annotation.http.LARGEST", 3 * 2**20)
    server.script = lambda body, number: fault if number == 1 else says("N0")
    first, second = begin(concurrency=1, timeout=0.5).replies(requests(2))
    assert first.text is None and second.text == says("N0")


@pytest.mark.parametrize(
    ("settings", "most", "what"),
    [
        ({"budget": {"requests": 4}}, 4, "4 requests"),
        ({"budget": {"tokens": 200}}, 4 + 2, "200 tokens"),
        ({"budget": {"money": 0.004}, "price": {"question": 10, "reply": 50}}, 4 + 2, "0.004 in money"),
        ({"budget": {"requests": 0}}, 0, "0 requests"),
    ],
)
def test_a_budget_is_held_but_for_what_is_on_its_way(server, begin, settings, most, what):
    asking = begin(**settings)
    found = list(asking.replies(requests(20)))
    assert len(found) == 20
    assert len(server.requests) <= most
    answered = [one for one in found if one.text is not None]
    assert len(answered) == len(server.requests)
    assert all(f"the budget of {what} is spent" in one.reason for one in found if one.text is None)
    assert asking.over() is not None
    assert next(asking.replies(requests(1))).text == (says("N0 + N1") if most else None)  # from the store


def test_failed_requests_are_part_of_the_budget(server, begin):
    server.script = lambda body, number: Fault(500)
    found = list(begin(budget={"requests": 3}).replies(requests(5)))
    assert len(server.requests) == 3 and not any(one.text for one in found)


def test_a_billion_claimed_tokens_are_counted_as_far_as_they_can_be_true(server, begin):
    server.usage = {"prompt_tokens": 10**9, "completion_tokens": 10**9}
    asking = begin(max_tokens=100)
    list(asking.replies(requests(1)))
    spent = asking.account.spent()
    assert spent.question_tokens < 1_000 and spent.reply_tokens == 100


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 0}])
def test_a_server_that_counts_no_tokens_is_counted_for(server, begin, usage):
    server.usage = usage
    asking = begin()
    list(asking.replies(requests(1)))
    assert (asking.account.spent().tokens > 20) == (usage is None)


def test_a_reply_without_end_is_cut(server, begin):
    server.script = lambda body, number: "x" * (2 * LONGEST)
    (answered,) = begin().replies(requests(1))
    assert len(answered.text) == LONGEST


@pytest.mark.parametrize("status", [400, 401, 403, 404, 302])
def test_a_refusal_is_a_sentence_at_once_and_never_shows_the_key(server, begin, status, monkeypatch):
    monkeypatch.setenv("WARMKIT_LLM_KEY", "sk-secret")
    message = json.dumps({"error": {"message": "Your key sk-secret is wrong."}}).encode()
    server.script = lambda body, number: Fault(status, {"Location": "http://127.0.0.1:9/"}, message)
    with pytest.raises(Refused, match=f"status {status}") as error:
        list(begin().replies(requests(5)))
    assert "sk-secret" not in str(error.value)
    assert len(server.requests) <= 2
    assert set(server.keys) == {"Bearer sk-secret"}


@pytest.mark.parametrize(
    ("structured", "kind"), [("schema", "json_schema"), ("object", "json_object"), ("words", None)]
)
def test_json_is_asked_for_in_the_way_that_the_server_knows(server, begin, structured, kind):
    list(begin(structured=structured).replies(requests(1)))
    assert server.requests[0].get("response_format", {}).get("type") == kind


def test_what_a_server_says_about_a_refusal_is_passed_on(server, begin):
    server.script = lambda body, number: Fault(400, body=b'{"error": {"message": "no such model"}}')
    with pytest.raises(Refused, match=r"status 400: no such model\."):
        list(begin().replies(requests(1)))


def test_the_key_is_in_the_environment_or_in_a_private_file(server, begin, tmp_path, monkeypatch):
    list(begin().replies(requests(1)))
    assert server.keys == [None]
    path = tmp_path / "key"
    monkeypatch.setenv("WARMKIT_LLM_KEY_FILE", str(path))
    with pytest.raises(WarmkitError, match="does not exist"):
        begin()
    path.write_text("sk-file\n")
    path.chmod(0o644)
    with pytest.raises(WarmkitError, match="others can read it"):
        begin()
    path.chmod(0o600)
    list(begin().replies(requests(1, seed=1)))
    assert server.keys[-1] == "Bearer sk-file"
    monkeypatch.setenv("WARMKIT_LLM_KEY", "two words")
    with pytest.raises(WarmkitError) as error:
        begin()
    assert "two words" not in str(error.value)


def test_a_stop_from_the_keyboard_does_not_wait_for_what_is_on_its_way(server, begin, store):
    server.script = lambda body, number: says("N0") if number == 1 else Fault(pause=30)
    asking = begin()
    found = asking.replies(requests(4))
    assert next(found).text == says("N0")
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        found.throw(KeyboardInterrupt)
    assert time.monotonic() - begun < 20
    server.script = lambda body, number: says("N1")
    assert sorted(answered.text for answered in begin().replies(requests(4))) == [
        says("N0"),
        *[says("N1")] * 3,
    ]


@pytest.mark.parametrize("url", ["ftp://x", "http://user:pw@x/v1", "x", "http://x/?key=1"])
def test_an_address_that_is_none_is_refused(store, url):
    with pytest.raises(WarmkitError) as error:
        Asking(LlmConfig(url=url), store, MemoryAccount())
    assert "pw" not in str(error.value) and "key=1" not in str(error.value)


def test_without_an_address_nothing_is_asked(store):
    with pytest.raises(WarmkitError, match=r"llm\.url is not set"):
        Asking(LlmConfig(), store, MemoryAccount())
