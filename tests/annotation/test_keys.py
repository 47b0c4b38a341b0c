"""Where the key comes from, and that it goes nowhere else."""

import json
import os
import stat

import pytest

from annotation.keys import (
    Connection,
    clean_url,
    connection_file,
    data_folder,
    find_connection,
    read_private,
    store_connection,
    stored_key,
)
from toolkit.errors import WarmkitError

SECRET = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WARMKIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_data_folder_is_named_by_warmkit_then_by_the_desktop(tmp_path, monkeypatch):
    assert data_folder() == tmp_path / "home"
    monkeypatch.delenv("WARMKIT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder() == tmp_path / "share" / "warmkit"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".local" / "share" / "warmkit"


def test_what_is_stored_is_found_and_only_its_owner_can_read_it(home):
    before = os.umask(0)
    try:
        path = store_connection(Connection("http://127.0.0.1:8080/", f" {SECRET}\n"))
    finally:
        os.umask(before)
    assert path == connection_file() == home / "label-studio.json"
    assert (mode(path), mode(home)) == (0o600, 0o700)
    assert [file.name for file in home.iterdir()] == [path.name]
    assert find_connection() == Connection("http://127.0.0.1:8080", SECRET)


def test_the_environment_comes_before_the_file(monkeypatch):
    store_connection(Connection("http://127.0.0.1:8080", "stored"))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "given")
    assert find_connection() == Connection("http://127.0.0.1:8080", "given")
    monkeypatch.setenv("LABEL_STUDIO_URL", "https://label.example.org/")
    assert find_connection() == Connection("https://label.example.org", "given")


def test_a_stored_key_is_sent_to_no_other_address(monkeypatch):
    store_connection(Connection("http://127.0.0.1:8080", SECRET))
    monkeypatch.setenv("LABEL_STUDIO_URL", "https://elsewhere.example.org")
    with pytest.raises(WarmkitError, match=r"no key for https://elsewhere\.example\.org") as error:
        find_connection()
    assert SECRET not in str(error.value)


def test_keys_of_several_servers_are_kept_and_the_last_one_is_used(monkeypatch):
    store_connection(Connection("http://127.0.0.1:8080", "one"))
    store_connection(Connection("https://label.example.org", "two"))
    assert find_connection() == Connection("https://label.example.org", "two")
    assert stored_key("http://127.0.0.1:8080") == "one"
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:8080/")
    assert find_connection().key == "one"


def test_without_any_the_sentence_says_what_to_call():
    with pytest.raises(WarmkitError, match="warmkit annotate connect URL"):
        find_connection()


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660, 0o620])
def test_a_file_that_others_can_reach_is_refused(bits):
    path = store_connection(Connection("http://127.0.0.1:8080", SECRET))
    path.chmod(bits)
    with pytest.raises(WarmkitError, match=r"others can read it.*chmod 600") as error:
        find_connection()
    assert SECRET not in str(error.value)
    path.chmod(0o600)
    assert find_connection().key == SECRET


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"url": 1}', b'{"url": "x", "keys": ["' + SECRET.encode() + b'"]}', b"\xff"],
)
def test_a_damaged_file_is_a_sentence_without_what_is_in_it(content):
    path = store_connection(Connection("http://127.0.0.1:8080", SECRET))
    path.write_bytes(content)
    with pytest.raises(WarmkitError, match=str(path)) as error:
        find_connection()
    assert SECRET not in str(error.value)


def test_a_key_is_not_shown_by_repr_nor_by_the_error_of_a_frozen_class():
    connection = Connection("http://127.0.0.1:8080", SECRET)
    assert SECRET not in f"{connection!r} {connection} {[connection]}"
    with pytest.raises(AttributeError) as error:
        connection.key = "x"
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("key", "what"),
    [
        ("", "is empty"),
        (" \n\t", "is empty"),
        ("secret\nX-Header: 1", "a line end"),
        ("secret\rpart", "a line end"),
        ("secret part", "a space"),
        ("secret\u00a0part", "a space"),
        ("secret\u0000part", "a character"),
        ("schlüssel-secret", "a character"),
    ],
)
def test_a_key_that_is_none_is_refused_without_being_shown(key, what):
    with pytest.raises(WarmkitError, match=what) as error:
        Connection("http://127.0.0.1:8080", key)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("written", "clean"),
    [
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        (" HTTPS://Label.Example.org/team/studio// ", "https://label.example.org/team/studio"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_is_written_in_one_way(written, clean):
    assert clean_url(written) == clean


@pytest.mark.parametrize(
    "written",
    [
        *(
            "",
            "127.0.0.1:8080",
            "ftp://x",
            "file:///etc/passwd",
            "http://",
            "http://x:port",
            "http://x:99999",
        ),
        *("http://x/?token=secret", "http://x/#secret", "http://a b", "http://xé.org", "http://[::1"),
    ],
)
def test_what_is_no_address_is_refused_without_what_may_be_a_secret(written):
    with pytest.raises(WarmkitError, match=r"http://127\.0\.0\.1:8080") as error:
        clean_url(written)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("written", ["http://user:secret@x.org", "http://secret@x.org", "ftp://u:secret@x"])
def test_an_address_with_a_password_in_it_is_refused(written):
    with pytest.raises(WarmkitError) as error:
        clean_url(written)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "warns"),
    [
        *(("http://127.0.0.1:8080", False), ("http://localhost", False), ("http://[::1]:80", False)),
        *(
            ("https://label.example.org", False),
            ("http://label.example.org", True),
            ("http://10.0.0.1", True),
        ),
    ],
)
def test_a_key_on_its_way_through_plain_http_is_warned_of(url, warns):
    assert (Connection(url, SECRET).warning is not None) is warns


def test_a_private_file_that_is_not_there_is_none(tmp_path):
    assert read_private(tmp_path / "x") is None
    with pytest.raises(WarmkitError, match="can't be read"):
        read_private(tmp_path)


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARMKIT_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(WarmkitError, match="can't be"):
        store_connection(Connection("http://127.0.0.1:8080", SECRET))


def test_the_file_is_json_for_other_programs():
    path = store_connection(Connection("http://127.0.0.1:8080", SECRET))
    written = json.loads(path.read_text(encoding="utf-8"))
    keys = {"http://127.0.0.1:8080": SECRET}
    assert written == {"url": "http://127.0.0.1:8080", "keys": keys, "authorities": {}}
