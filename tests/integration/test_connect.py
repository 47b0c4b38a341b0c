"""`warmkit annotate connect` with a real Label Studio."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from annotation.keys import find_connection, stored_key
from toolkit.cli import main
from toolkit.errors import WarmkitError

WRONG = "fedcba9876543210fedcba9876543210fedcba98"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WARMKIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def connect(*arguments, typed=""):
    result = CliRunner().invoke(main, ["annotate", "connect", *arguments], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_key_that_is_typed_is_tried_and_kept(label_studio):
    result = connect(label_studio.url + "/", typed=label_studio.key + "\n")
    assert result.exit_code == 0
    assert f"Connected to {label_studio.url} as {label_studio.user}." in result.output
    assert label_studio.key not in result.output
    assert find_connection() == label_studio.server.connection


def test_a_key_of_the_environment_is_not_asked_for(label_studio, personal_token, monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", personal_token)
    result = connect(label_studio.url, "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert (answer["url"], answer["user"]) == (label_studio.url, label_studio.user)
    assert personal_token not in result.output
    assert stored_key(label_studio.url) == personal_token


@pytest.mark.parametrize("typed", [WRONG, "", "two words", "\n"])
def test_a_key_that_does_not_work_is_not_kept(label_studio, home, typed):
    result = connect(label_studio.url, typed=typed)
    assert result.exit_code == 1
    assert "key" in result.stderr and WRONG not in result.output
    assert not home.exists()


def test_a_wrong_key_leaves_the_one_that_works(label_studio):
    connect(label_studio.url, typed=label_studio.key)
    assert connect(label_studio.url, typed=WRONG).exit_code == 1
    assert stored_key(label_studio.url) == label_studio.key


@pytest.mark.parametrize("kind", ["legacy", "personal"])
def test_check_says_in_sentences_what_works(label_studio, personal_token, kind):
    key = label_studio.key if kind == "legacy" else personal_token
    result = connect(label_studio.url, "--check", typed=key)
    assert result.exit_code == 0, result.output
    for sentence in (
        "is reached.",
        "It is Label Studio 1.23.2 (Community)",
        f"a {kind}",
        f"token of {label_studio.user}.",
        "may make projects",
        "least sure of first",
        "Polling works without.",
    ):
        assert sentence in result.stdout
    again = connect(label_studio.url, "--check", "--json")  # with the key that is kept
    assert again.exit_code == 0
    checks = {check["name"]: check["works"] for check in json.loads(again.stdout)["checks"]}
    assert checks == {
        **dict.fromkeys(("reachable", "version", "key", "projects", "uncertainty"), True),
        "webhook": None,
    }
    assert key not in result.output + again.output


def test_check_says_what_does_not_work_and_keeps_nothing(label_studio, home):
    result = connect(label_studio.url, "--check", "--json", typed=WRONG)
    assert result.exit_code == 1
    checks = {check["name"]: check["works"] for check in json.loads(result.stdout)["checks"]}
    assert checks == {"reachable": True, "version": True, "key": False}
    down = connect("http://127.0.0.1:9", "--check", typed=WRONG)
    assert down.exit_code == 1
    assert down.stdout.startswith("no ") and "can't be reached" in down.stdout
    assert not home.exists()
    with pytest.raises(WarmkitError):
        find_connection()


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b'"x"', b"3", b"null", b"<html>", b"\xff", b"", b'{"release": [1]}']
)
@pytest.mark.parametrize("options", [[], ["--check"]])
def test_an_address_where_something_else_answers_is_told(body, options, home):
    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        thread = threading.Thread(target=other.serve_forever, args=(0.05,))
        thread.start()
        result = connect(f"http://127.0.0.1:{other.server_port}", *options, typed=WRONG)
        other.shutdown()
        thread.join()
    assert result.exit_code == 1
    assert "Label Studio" in result.output and "address" in result.output
    assert not home.exists()


def test_an_address_that_is_none_is_refused_before_a_key_is_asked_for():
    result = connect("127.0.0.1:8080", typed=WRONG)
    assert result.exit_code == 1
    assert "is not an address" in result.stderr


def test_plain_http_to_another_machine_is_warned_of(monkeypatch):
    result = connect("http://label.invalid", typed=WRONG)
    assert result.exit_code == 1
    assert "everyone on the way can read the key" in result.stderr
