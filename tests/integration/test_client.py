"""Faults on the way to a real Label Studio are sentences, and no sentence holds a key."""

import base64
import json
import logging
from contextlib import suppress

import pytest
from integration.proxy import Proxy

from annotation.check import who
from annotation.client import Client, Gone, LabelStudioError, Refused, Unreachable
from annotation.keys import Connection
from toolkit.errors import WarmkitError

WRONG = "fedcba9876543210fedcba9876543210fedcba98"


def jwt(**claims):
    parts = ({"alg": "HS256", "typ": "JWT"}, claims)
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*coded, base64.urlsafe_b64encode(b"signature").rstrip(b"=").decode()])


@pytest.fixture
def proxy(label_studio):
    with Proxy(label_studio.url) as proxy:
        yield proxy


def ask(url, key, timeout=60.0):
    with Client(Connection(url, key), timeout) as client:
        return who(client)


def make(client, **fields):
    return client.request("making a project", "POST", "api/projects/", json=fields)


def test_legacy_and_personal_tokens_both_open_the_door(label_studio, personal_token):
    assert ask(label_studio.url, label_studio.key) == label_studio.user
    assert ask(label_studio.url, personal_token) == label_studio.user


def test_both_work_behind_an_address_with_a_path(label_studio, personal_token):
    with Proxy(label_studio.url, prefix="/team/studio") as proxy:
        assert ask(proxy.url, label_studio.key) == label_studio.user
        assert ask(proxy.url, personal_token) == label_studio.user
        assert proxy.count("POST", "/team/studio/api/token/refresh/") == 1


def test_a_client_that_was_closed_can_be_used_again(label_studio):
    client = Client(label_studio.server.connection)
    for _ in range(2):
        with client:
            assert who(client) == label_studio.user
    client.close()


@pytest.mark.parametrize(
    "key", [WRONG, jwt(token_type="refresh", exp=1), jwt(token_type="refresh", exp=2**33), jwt(x=1)]
)
def test_a_wrong_forged_or_expired_key_is_refused_and_not_shown(label_studio, key):
    with pytest.raises(Refused, match=r"warmkit annotate connect") as error:
        ask(label_studio.url, key)
    assert key not in str(error.value) and "eyJ" not in str(error.value)
    assert error.value.__cause__ is None and error.value.__suppress_context__


@pytest.mark.parametrize("key", ["", "  ", "half\nhalf", "half half"])
def test_a_key_that_cannot_be_sent_never_gets_to_the_network(label_studio, key):
    with pytest.raises(WarmkitError, match="Label Studio key") as error:
        ask(label_studio.url, key)
    assert "half" not in str(error.value)


def test_what_is_deleted_is_gone(label_studio):
    with pytest.raises(Gone, match=r"opening project 987654.*No Project"):
        label_studio.client.request("opening project 987654", "GET", "api/projects/987654/")


def test_what_label_studio_objects_to_is_quoted(label_studio):
    with pytest.raises(LabelStudioError, match=r"making a project.*400.*label_config") as error:
        make(label_studio.client, title="x", label_config="<View><Nope")
    assert not isinstance(error.value, Unreachable | Refused | Gone)


def test_a_server_that_is_down_is_unreachable():
    with pytest.raises(Unreachable, match=r"can't be reached.*warmkit annotate serve"):
        ask("http://127.0.0.1:9", WRONG)


@pytest.mark.parametrize("how", ["drop", "lose", "cut", "502", "429"])
def test_a_write_that_fails_is_unreachable_and_not_sent_again(label_studio, proxy, how):
    proxy.fail(how, method="POST", path="/api/projects/", times=99)
    with (
        Client(Connection(proxy.url, label_studio.key)) as client,
        pytest.raises(Unreachable, match="making a project") as error,
    ):
        make(client, title=f"by {how}")
    assert proxy.count("POST") == 1
    assert "<h1>" not in str(error.value)


@pytest.mark.parametrize("how", ["drop", "lose", "502", "429"])
def test_a_read_that_fails_once_is_tried_again(label_studio, proxy, how):
    proxy.fail(how)
    assert ask(proxy.url, label_studio.key) == label_studio.user
    assert proxy.count("GET") == 2


def test_a_gateway_that_fails_where_a_personal_token_is_exchanged_is_unreachable(proxy, personal_token):
    for how in ("502", "drop", "cut"):
        proxy.fail(how, method="POST", times=99)
        with pytest.raises(Unreachable) as error:
            ask(proxy.url, personal_token)
        assert personal_token not in str(error.value)
        proxy.heal()


def test_a_server_that_does_not_answer_is_unreachable(label_studio, proxy):
    proxy.fail("delay", seconds=3)
    with pytest.raises(Unreachable, match="no answer in"):
        ask(proxy.url, label_studio.key, timeout=0.3)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_address_that_sends_us_on_is_not_followed_with_the_key(
    label_studio, personal_token, proxy, method
):
    proxy.fail("302", method=method)
    with pytest.raises(LabelStudioError) as error:
        ask(proxy.url, personal_token)
    assert method == "POST" or "redirects to http://127.0.0.1:9/elsewhere" in str(error.value)
    assert not isinstance(error.value, Unreachable)  # nobody listens at port 9


def test_an_address_of_something_else_is_told(label_studio):
    with pytest.raises(LabelStudioError):
        ask(f"{label_studio.url}/user/login", label_studio.key)


def test_nothing_that_is_logged_holds_the_key(label_studio, personal_token, caplog):
    with caplog.at_level(logging.DEBUG):
        for key in (label_studio.key, personal_token, WRONG):
            with suppress(Refused):
                ask(label_studio.url, key)
    assert caplog.text
    for key in (label_studio.key, personal_token, WRONG):
        assert key not in caplog.text
