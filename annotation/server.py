"""A Label Studio server of our own: on this machine alone unless told otherwise, with SQLite, and nothing
sent outside.

    FOLDER/data        its database, made in FOLDER/data.part first, so it is never incomplete
    FOLDER/password    of its one user, made once; only its owner can read it
    FOLDER/key         the key of that user; only its owner can read it
    FOLDER/server.log  its output

The server gets its secrets by its environment, which other users can't see, never by its arguments.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from annotation.check import who
from annotation.client import Client, Refused, Unreachable, redacted
from annotation.environment import Report
from annotation.keys import Connection, is_loopback, read_private, write_private
from annotation.own_key import own_key
from toolkit.errors import WarmkitError
from toolkit.storage.lock import descriptors, held, sign

HOST = "127.0.0.1"
EVERY = "0.0.0.0"  # every address of this machine
USER = "warmkit@localhost"
PATIENCE = 900.0  # seconds until it must answer; the first start takes minutes on a slow machine
GRACE = 10.0  # seconds to end by itself
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")  # of our environment
SETTINGS = {
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
    "COLLECT_ANALYTICS": "false",
    "SENTRY_DSN": "",  # empty, not absent: the default is theirs
    "FRONTEND_SENTRY_DSN": "",
    "PYTHONWARNINGS": "ignore",
}
# Only this machine's owner has an account, and the webhook and the backend are on this machine too.
# Colleagues must not be able to have the server call addresses of this machine.
ALONE = {"LABEL_STUDIO_SSRF_PROTECTION_ENABLED": "false", "LABEL_STUDIO_ML_BLOCK_LOCAL_IP": "false"}


@dataclass(frozen=True)
class Server:
    """A running Label Studio."""

    connection: Connection
    user: str
    password_file: Path
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return self.connection.url

    @property
    def password(self) -> str:
        return (read_private(self.password_file) or "").strip()

    def wait(self) -> None:
        """Wait until the server ends, which is an error."""
        self.process.wait()
        raise WarmkitError(f"Label Studio ended by itself. Its log is {self.log}.")


@contextmanager
def running(
    program: Path,
    folder: Path,
    port: int = 0,
    report: Report = lambda message: None,
    host: str = HOST,
) -> Iterator[Server]:
    """A server with the data of a folder, which is made if needed. It ends with the block, with its children.

    `program` is Label Studio's; `port` 0 is any free port. Beyond loopback, `host` is for colleagues: nobody
    can sign up without an invitation.
    """
    folder = folder.absolute()
    with _only_one(folder) as lock:
        password, key = _secret(folder / "password"), _secret(folder / "key")
        log = folder / "server.log"
        port = _free_port(host, port)
        url = f"http://{HOST if host == EVERY else host}:{port}"
        settings = _environment(folder / "data") | (ALONE if is_loopback(host) else {})
        if not (folder / "data").exists():
            report("Label Studio makes its database, once (a minute or two)")
            _make_data(program, folder, password, key, log)
        start = [str(program), "start", "--no-browser", "--internal-host", host, "--port", str(port)]
        report("Label Studio starts")
        with _process(start, settings, log, descriptors(lock)) as process:
            sign(lock, f"at {url} (process {process.pid})")
            hidden = (password, key)
            try:
                _wait_for(lambda: _answers(Connection(url, key)), process, log, hidden)
            except Refused:
                report("Our key was reset in Label Studio; a new one is fetched")
                key = own_key(program, USER, _environment(folder / "data"))
                _wait_for(lambda: _is_ours(Connection(url, key)), process, log, (*hidden, key))
                write_private(folder / "key", key + "\n")
            yield Server(Connection(url, key), USER, folder / "password", log, process)


def _make_data(program: Path, folder: Path, password: str, key: str, log: Path) -> None:
    part = folder / "data.part"
    shutil.rmtree(part, ignore_errors=True)
    settings = _environment(part) | {
        "LABEL_STUDIO_USERNAME": USER,
        "LABEL_STUDIO_PASSWORD": password,
        "LABEL_STUDIO_USER_TOKEN": key,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",  # acts only when the first user is made
    }
    with _process([str(program), "init", "--quiet"], settings, log) as process:
        _wait_for(lambda: process.poll() == 0, process, log, (password, key))
    part.replace(folder / "data")


def _environment(data: Path) -> dict[str, str]:
    """Few variables of our own: Label Studio reads names like HOST, PORT, DEBUG and PASSWORD."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return inherited | SETTINGS | {"LABEL_STUDIO_BASE_DATA_DIR": str(data)}


@contextmanager
def _process(
    command: Sequence[str], environment: dict[str, str], log: Path, files: tuple[int, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a session of its own: Ctrl-C does not reach it, and it ends with all its children."""
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                umask=0o077,
                pass_fds=files,
            )
    except OSError as error:
        raise WarmkitError(f"{command[0]}: it can't be started: {error.strerror}.") from None
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(
    ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path, hidden: Sequence[str]
) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        ended = process.poll() is not None
        if ready():
            return
        if ended or time.monotonic() > until:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
            for secret in hidden:
                last = redacted(last, secret)
            how = "ended" if ended else "did not answer in time"
            raise WarmkitError(
                f"Label Studio {how}. Its last output: {last[:300]}\nThe whole output is in {log}."
            )
        time.sleep(0.2)


def _answers(connection: Connection) -> bool:
    """Whether it is up. The key shows that it is our server and not another one on the same port."""
    with Client(connection, timeout=30, sleep=lambda seconds: None) as client:
        try:
            who(client)
        except Unreachable:
            return False
    return True


def _is_ours(connection: Connection) -> bool:
    """`_answers`, with the key of our own database."""
    try:
        return _answers(connection)
    except Refused:
        raise WarmkitError(
            f"{connection.url}: this is another Label Studio than the one that warmkit has started. Stop it."
        ) from None


@contextmanager
def _only_one(folder: Path) -> Iterator[IO[str]]:
    """A folder is served by one server. The server holds the lock too, so it lasts even if we are killed."""

    def taken(holder: str) -> str:
        return f"{folder}: a Label Studio is already running {holder}. Use it, or stop it first."

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WarmkitError(f"{folder}: it can't be used: {error.strerror}.") from None
    with held(folder / "lock", taken) as lock:
        yield lock


def _secret(path: Path) -> str:
    """40 hex digits, made once: the form of Label Studio's own keys."""
    found = read_private(path)
    if found is None:
        write_private(path, secrets.token_hex(20) + "\n")
        found = read_private(path)
    return (found or "").strip()


def _free_port(host: str, port: int) -> int:
    """The port, if it is free: Label Studio would silently take the next one."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            place = f"Port {port}" + ("" if host == HOST else f" of {host}")
            raise WarmkitError(
                f"{place} can't be used: {error.strerror}.", "port-taken", next=port + 1
            ) from None
        return int(probe.getsockname()[1])
