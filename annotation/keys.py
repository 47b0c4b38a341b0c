"""The URL of Label Studio and its key: from the environment, else from a file that only its owner reads.

    LABEL_STUDIO_URL, LABEL_STUDIO_API_KEY    come first
    LABEL_STUDIO_CA                           a file with the certificate of its authority, if it has its own
    DATA/label-studio.json                    written by `warmkit annotate connect` and `serve`

DATA is WARMKIT_HOME, else XDG_DATA_HOME/warmkit, else ~/.local/share/warmkit. A key is never printed.
"""

import ipaddress
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing

URL = "LABEL_STUDIO_URL"
KEY = "LABEL_STUDIO_API_KEY"
CA = "LABEL_STUDIO_CA"
CONNECT = "warmkit annotate connect URL, or start a server of your own: warmkit annotate serve"


@dataclass(frozen=True)
class Connection:
    """A URL and a key, both checked and normalized. `ca` is a file with the certificate of its authority."""

    url: str
    key: str = field(repr=False)
    ca: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", clean_url(self.url))
        object.__setattr__(self, "key", clean_key(self.key))

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def is_personal(self) -> bool:
        """Whether the key is a personal access token (a JWT), not a legacy token."""
        return self.key.startswith("eyJ")

    @property
    def warning(self) -> str | None:
        """What the user should know before the key is sent."""
        if self.url.startswith("https://") or self.is_local:
            return None
        return f"{self.url} is plain http: everyone on the way can read the key. Use https if it can."


def data_folder() -> Path:
    """The folder for what belongs to the user and to no run."""
    if home := os.environ.get("WARMKIT_HOME"):
        return Path(home).expanduser().absolute()
    shared = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(shared).absolute() / "warmkit"


def connection_file() -> Path:
    return data_folder() / "label-studio.json"


def find_connection() -> Connection:
    """The URL and the key that the user gave last. A key is only ever sent to its own URL."""
    url, key = os.environ.get(URL), os.environ.get(KEY)
    current, keys, authorities = _stored() if not (url and key) else ("", {}, {})
    url = clean_url(url) if url else current
    if not url:
        raise WarmkitError(f"{URL} is not set, and there is no {connection_file()}. Call: {CONNECT}")
    key = key or keys.get(url)
    if not key:
        raise WarmkitError(f"There is no key for {url}. Set {KEY}, or: warmkit annotate connect {url}")
    return Connection(url, key, os.environ.get(CA) or authorities.get(url))


def stored_key(url: str) -> str | None:
    """The key that is kept for a URL."""
    return _stored()[1].get(url)


def stored_ca(url: str) -> str | None:
    """The certificate that is kept for a URL."""
    return _stored()[2].get(url)


def store_connection(connection: Connection) -> Path:
    """Keep it for later commands. Keys of other servers are kept too; the last one stored is used."""
    path = connection_file()
    _, keys, authorities = _stored()
    authorities = {url: ca for url, ca in authorities.items() if url != connection.url}
    kept = {
        "url": connection.url,
        "keys": {**keys, connection.url: connection.key},
        "authorities": authorities | ({connection.url: connection.ca} if connection.ca else {}),
    }
    write_private(path, json.dumps(kept, indent=1) + "\n")
    return path


def _stored() -> tuple[str, dict[str, str], dict[str, str]]:
    """The URL in use ("" if there is none), the keys and the certificates of authorities, by URL."""
    path = connection_file()
    written = read_private(path)
    if written is None:
        return "", {}, {}
    try:
        found = json.loads(written)
        keys, authorities = (
            {str(url): str(value) for url, value in found[name].items()} for name in ("keys", "authorities")
        )
        return str(found["url"]), keys, authorities
    except (ValueError, KeyError, TypeError, AttributeError):  # their text may hold a key
        raise WarmkitError(f"{path}: it is damaged. Move it away, then: {CONNECT}") from None


def write_private(path: Path, text: str) -> None:
    """Write a file for its owner alone, whole or not at all."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WarmkitError(f"{path.parent}: it can't be made: {error.strerror}.") from None
    with replacing(path, private=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_private(path: Path) -> str | None:
    """The text of a file for its owner alone; a file that others can read is refused."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise WarmkitError(
                    f"{path}: others can read it, and it holds a secret. "
                    f"If nobody has read it: chmod 600 {path}. Else make a new key."
                )
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise WarmkitError(f"{path}: it can't be read: {why}.") from None


def clean_url(url: str) -> str:
    """A URL as all commands write it; an error if it is not a URL."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port  # raises if it is not a port
    except ValueError:
        raise WarmkitError(f"{_shown(url)} is not an address. Write it like http://127.0.0.1:8080.") from None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise WarmkitError(f"{_shown(url)} is not an address. Write it like http://127.0.0.1:8080.")
    if parts.username is not None or parts.password is not None:
        raise WarmkitError(
            f"The address of {parts.hostname} has a name or password in it, which logs would show. "
            f"Leave it out, and give the key in {KEY} or at the prompt."
        )
    if parts.query or parts.fragment or not parts.netloc.isascii() or any(c.isspace() for c in url.strip()):
        raise WarmkitError(f"{_shown(url)}: give the address alone, like http://127.0.0.1:8080.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = host if port is None else f"{host}:{port}"
    return SplitResult(parts.scheme.lower(), netloc, parts.path.rstrip("/"), "", "").geturl()


def clean_key(key: str) -> str:
    """The key of Label Studio without what surrounds it; an error if it can't be one."""
    if not key.strip():
        raise WarmkitError(f"The Label Studio key is empty. Set {KEY}, or: warmkit annotate connect URL")
    return as_header(key, "The Label Studio key", "Copy it again from Label Studio, Account & Settings.")


def as_header(key: str, name: str, advice: str) -> str:
    """A key that can be sent in a header; an error, which never shows the key, if it can't be."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key or not key:
        raise WarmkitError(f"{name} has a space, a line end or a character that is in no key. {advice}")
    return key


def _shown(url: str) -> str:
    """What was given as a URL, without what might be a secret in it."""
    return repr(re.split("[?#]", url.strip().rpartition("@")[2])[0][:60])


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
