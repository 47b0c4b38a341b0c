"""Problem sets in S3, read by the real client from a server that checks keys."""

import json
import resource

import pytest
from click.testing import CliRunner
from commands import sets
from s3_server import S3, serving
from tiny import TINY, WARM

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data import read_problems, write_table
from toolkit.data.read import part_files, read_parts
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.run import create_run, open_run
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.prepare import prepare

SOLVER = ("hidden=8", "embedding=8", "epochs=1", "members=1", "max_tokens=9")
SETTINGS = ("--constants", "1,π", "--gold", "all", "--json", *sets(WARM))


def run(*arguments):
    return CliRunner().invoke(main, [str(part) for part in arguments])


@pytest.fixture(scope="module")
def server():
    with serving(S3("problems")) as started:
        yield started


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").table.head(40)


@pytest.fixture
def s3(server, problems, monkeypatch, tmp_path):
    """A set in two parts, in S3 and in a folder."""
    for name, value in server.env.items():
        monkeypatch.setenv(name, value)
    write_table(problems[:25], tmp_path / "parts" / "a.parquet")
    write_table(problems[25:], tmp_path / "parts" / "b.jsonl")
    server.files.clear()
    for path in (tmp_path / "parts").iterdir():
        server.put(f"problems/train/{path.name}", path.read_bytes())
    server.put("problems/train/README.txt", b"no part")
    server.put("problems/train/below/c.jsonl", b"no part of the folder above")
    return server


def test_a_folder_a_pattern_and_a_file_in_s3_are_problem_sets(s3, tmp_path):
    local = read_problems(tmp_path / "parts")
    for address in ("s3://problems/train", "s3://problems/train/", "s3://problems/train/[ab].*"):
        assert read_problems(address).table.equals(local.table)
    assert [part.name for part in part_files("s3://problems/train")] == ["a.parquet", "b.jsonl"]
    assert len(read_problems("s3://problems/train/b.jsonl")) == 15


def test_the_commands_do_the_same_on_s3_as_on_a_folder(s3, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    here, there = tmp_path / "parts", "s3://problems/train"
    checked = [run("data", "check", data, "--json") for data in (here, there)]
    assert checked[0].stdout == checked[1].stdout and checked[1].exit_code == 0
    outs = [tmp_path / "here", tmp_path / "there"]
    for data, out in zip((here, there), outs, strict=True):
        done = run("train", data, "--out", out, "--prepared", tmp_path / "prepared", *SETTINGS)
        assert done.exit_code == 0, done.output
        found = run("generate", data, "--model", out, "--out", out / "candidates.parquet", "--json")
        assert found.exit_code == 0 and json.loads(found.stdout)["problems"] == 40
        words = ("solver", "fit", data, "--candidates", outs[0] / "candidates.parquet", "--out", out / "gts")
        fitted = run(*words, "--prepared", tmp_path / "lessons", *sets(SOLVER))
        assert fitted.exit_code == 0, fitted.output
    for model in (".", "gts"):
        one, other = ((out / model / "weights.safetensors").read_bytes() for out in outs)
        assert one == other
    # the same problems, wherever they are
    assert len(list((tmp_path / "prepared").iterdir())) == 1
    assert len(list((tmp_path / "lessons").iterdir())) == 2
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert s3.key.encode() not in written and s3.secret.encode() not in written
    assert not list(temporary.glob("warmkit-*"))  # no copy of a part is left


def test_a_run_takes_its_problems_from_s3_and_needs_it_no_more(s3, tmp_path):
    settings = (*TINY, "data=s3://problems/train")
    create_run(tmp_path, "mine", load_config(LoopConfig, None, settings)).ledger.close()
    s3.files.clear()
    run = open_run(tmp_path, "mine")
    assert len(run.stored) == 24 and run.config.data == "s3://problems/train"
    run.ledger.close()


def test_a_copy_that_finds_no_room_is_a_sentence(s3, tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        with pytest.raises(
            WarmkitError, match=r"^s3://problems/train/b\.jsonl: it can't be fetched: File too"
        ):
            read_problems("s3://problems/train/b.jsonl")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


def test_a_part_that_changes_in_s3_while_it_is_prepared_is_a_sentence(s3, tmp_path):
    def run(preparation, given):
        for part in given:
            s3.put("problems/train/a.parquet", s3.files["problems/train/a.parquet"])
            yield preparation(part)

    config = load_config(WarmConfig, None, WARM)
    with pytest.raises(WarmkitError, match=r"s3://problems/train/a\.parquet: it changed while it was prep"):
        prepare("s3://problems/train", tmp_path / "prepared", DEFAULT_CONSTANTS, config, run=run)
    assert not (tmp_path / "prepared").exists()


def test_a_bad_row_is_named_by_its_address_and_line(s3):
    s3.put("problems/train/d.jsonl", b'{"id": "x", "text": "no number", "answer": 1}\n')
    with pytest.raises(WarmkitError, match=r"s3://problems/train/d\.jsonl, line 1, id x: its text has no"):
        list(read_parts("s3://problems/train", 50)[1])
    s3.put("problems/train/d.jsonl", s3.files["problems/train/a.parquet"][:-20])
    with pytest.raises(WarmkitError, match=r"^s3://problems/train/d\.jsonl: [^/]*$"):
        read_parts("s3://problems/train", 50)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("s3://problems/nothing", "there is no such file or folder"),
        ("s3://problems/train/*.csv", "no file has a name like this"),
        ("s3://absent/train", "there is no bucket absent"),
        ("s3://", "not an address of the form"),
        ("gs://problems/train", "Copy it to a folder"),
    ],
)
def test_an_address_of_nothing_is_a_sentence(s3, address, told):
    done = run("data", "check", address)
    assert done.exit_code == 1 and done.exception.__class__ is SystemExit
    assert f"{address}: " in done.stderr.replace("\n", " ") and told in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_a_wrong_key_is_a_sentence_without_the_key(s3, name, monkeypatch):
    monkeypatch.setenv(name, "a-wrong-one")
    done = run("train", "s3://problems/train", "--out", "model")
    assert done.exit_code == 1
    assert "s3://problems/train: it can't be read: access was denied" in done.stderr
    assert "a-wrong-one" not in done.output and s3.secret not in done.output


def test_a_server_that_is_not_there_is_a_sentence(s3, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    done = run("data", "check", "s3://problems/train")
    assert done.exit_code == 1 and "s3://problems/train: it can't be read: the server can't be" in done.stderr


@pytest.mark.parametrize(
    "address",
    ["s3://{key}:{secret}@problems/train", "s3://problems/train?access_key={key}&secret_key={secret}"],
)
def test_a_key_in_an_address_is_refused_and_not_repeated(s3, address, tmp_path):
    address = address.format(key=s3.key, secret=s3.secret)
    for arguments in (
        ("data", "check", address),
        ("train", "bundled:en", "--out", tmp_path / "model", "--workers", 1, "--storage", address),
    ):
        done = run(*arguments)
        assert done.exit_code == 1 and "an address has no keys" in done.stderr
        assert s3.key not in done.output and s3.secret not in done.output
    assert not (tmp_path / "model").exists()


def test_what_is_written_goes_to_a_disk(s3, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ("train", "s3://problems/train", "--out", "s3://problems/model"),
        ("train", "s3://problems/train", "--out", "model", "--prepared", "s3://problems/prepared"),
        ("generate", "s3://problems/train", "--model", "s3://problems/model", "--out", "found.parquet"),
        ("data", "split", "s3://problems/train", "--out", "s3://problems/split"),
        ("loop", "s3://problems/train", "--runs", "s3://problems/runs"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2 and "Name a path on a disk" in " ".join(done.stderr.split()), done.output
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
