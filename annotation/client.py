"""A client of Label Studio whose errors are sentences.

    with Client(find_connection()) as client:
        answer = client.request("listing the projects", "GET", "api/projects/")

Nothing that a server sends is trusted. An answer may have so many bytes and take so many seconds; the key
goes to the address that the user named and to no other; whatever goes wrong is a `LabelStudioError`, without
the key. What an answer says is read in `annotation.answers`.

A read that fails is tried again. A write is not (a POST whose answer got lost would be done twice): whoever
writes checks afterwards what has arrived. Legacy tokens and personal access tokens both work.
"""

import re
import time
from collections.abc import Callable, Mapping
from json import dumps
from typing import Any, NoReturn, Self

from annotation.answers import AccessToken, Answered, OddAnswer, Version, decoded, fitted, printable
from annotation.http import WHOLE, Http, HttpAnswer, HttpRequest
from annotation.keys import CA, KEY, Connection
from toolkit.errors import WarmkitError

TIMEOUT = 60.0  # seconds without a byte
PAUSES = (1.0, 2.0)  # seconds before a read is tried again
LONGEST = 300  # characters of a server's answer that a message quotes
READ_FOR_QUOTE = 4_000  # characters of it that are looked at

_SECRETS = re.compile(r"\b(?:Token|Bearer)\s+[\w.-]{16,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*")  # headers and JWTs
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class LabelStudioError(WarmkitError):
    """Label Studio did not do what was asked."""


class Unreachable(LabelStudioError):
    """The server is down, too slow or too busy: try again later."""


class Refused(LabelStudioError):
    """The key is wrong or expired, or its user may not do this."""


class Gone(LabelStudioError):
    """What was asked for does not exist, or no longer."""


class WrongWay(LabelStudioError):
    """The address leads elsewhere, or to a server that is not trusted."""


class Client:
    """Sends requests to the server of a connection."""

    def __init__(
        self,
        connection: Connection,
        timeout: float = TIMEOUT,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.connection = connection
        self._http, self._sleep = Http(timeout, connection.is_local, connection.ca), sleep
        self._access: str | None = None  # for which a personal access token was exchanged

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the sockets. The client can still be used again."""
        self._http.close()

    @property
    def url(self) -> str:
        return self.connection.url

    def request(
        self,
        what: str,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        json: object = None,
    ) -> HttpAnswer:
        """The answer to a request that succeeded; `what` says in errors what it was for."""
        import httpx

        content = None if json is None else dumps(json)
        request = HttpRequest(method, f"{self.url}/{path}", params, content)
        for pause in (*PAUSES, None) if method == "GET" else (None,):
            try:
                answer = self._authorized(what, request)
            except httpx.TimeoutException as error:
                self._fail(what, error)
            except Exception as error:
                if pause is None or not isinstance(error, httpx.TransportError):
                    self._fail(what, error)
            else:
                if pause is None or not answer.is_passing:
                    break
            self._sleep(pause)
        if not 200 <= answer.status < 300:
            raise self._error(what, answer) from None
        return answer

    def is_label_studio(self) -> bool:
        """Whether a Label Studio answers at this address. The key is not sent."""
        try:
            answer = self._http.send(HttpRequest("GET", f"{self.url}/api/version/"))
            fitted(Version, decoded(answer.body))
        except OddAnswer:
            return False
        except Exception as error:
            self._fail("asking for its version", error)
        return True

    def call(
        self,
        what: str,
        kind: type[Answered],
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        json: object = None,
    ) -> Answered:
        """The answer to a request, as a value of this type."""
        return self.read(what, kind, self.request(what, method, path, params, json))

    def read(self, what: str, kind: type[Answered], answer: HttpAnswer) -> Answered:
        try:
            return fitted(kind, decoded(answer.body))
        except OddAnswer as error:
            raise self.odd(what, error) from None

    def odd(self, what: str, odd: object) -> LabelStudioError:
        """The error for an answer that can't be used."""
        return LabelStudioError(
            f"{self.url}: {what}: the answer is not one of Label Studio ({self.quoted(odd)}). "
            "Check address and version: warmkit annotate connect URL --check"
        )

    def _authorized(self, what: str, request: HttpRequest) -> HttpAnswer:
        was_exchanged_before = self._access is not None
        answer = self._http.send(request, self._authorization(what))
        if answer.status == 401 and was_exchanged_before:  # it has expired
            self._access = None
            answer = self._http.send(request, self._authorization(what))
        return answer

    def _authorization(self, what: str) -> str:
        """The header that tells who asks."""
        key = self.connection.key
        if not self.connection.is_personal:
            return f"Token {key}"
        if self._access is None:
            content = dumps({"refresh": key})
            answer = self._http.send(HttpRequest("POST", f"{self.url}/api/token/refresh/", content=content))
            if answer.status != 200:
                raise self._error(what, answer) from None
            self._access = fitted(AccessToken, decoded(answer.body)).access
        return f"Bearer {self._access}"

    def _fail(self, what: str, error: Exception) -> NoReturn:
        """Raise the sentence for what went wrong on the way to an answer."""
        import httpx

        start = f"{self.url}: {what}:"
        if isinstance(error, OddAnswer | httpx.DecodingError):
            raise self.odd(what, error) from None
        if isinstance(error, httpx.LocalProtocolError):  # its text holds the key
            raise Refused(f"{start} the key can't be sent. Copy it again.") from None
        if isinstance(error, httpx.TimeoutException):
            raise Unreachable(
                f"{start} no answer in {self._http.timeout:.0f} seconds, or no end of it in "
                f"{WHOLE * self._http.timeout:.0f}. Try again later."
            ) from None
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise WrongWay(
                f"{start} its certificate is not trusted ({self.quoted(error)}). If it is your own, name "
                f"the file of its authority: warmkit annotate connect {self.url} --ca FILE, or set {CA}."
            ) from None
        if isinstance(error, httpx.HTTPError | httpx.StreamError):
            serve = " Start it with: warmkit annotate serve" if self.connection.is_local else ""
            raise Unreachable(
                f"{start} the server can't be reached ({self.quoted(error)}). "
                f"Is it running, and is the address right?{serve}"
            ) from None
        if isinstance(error, httpx.InvalidURL):
            raise LabelStudioError(f"{start} {self.quoted(error)}.") from None
        raise error

    def _error(self, what: str, answer: HttpAnswer) -> LabelStudioError:
        """The error for an answer with such a status."""
        start, status = f"{self.url}: {what}:", answer.status
        detail = self.quoted(_complaint(answer.body))
        quoted = f" ({detail})" if detail else ""
        if status == 401:
            return Refused(
                f"{start} the key is wrong or expired, or it is a legacy token and those are turned off"
                f"{quoted}. Make a new one in Label Studio, Account & Settings, then: "
                f"warmkit annotate connect {self.url}, or set {KEY}."
            )
        if status == 403:
            return Refused(f"{start} the key's user may not do this{quoted}.")
        if status == 404:
            return Gone(f"{start} it does not exist, or was deleted{quoted}.")
        if status == 429:
            return Unreachable(f"{start} the server asks to go slower (429). Try again later.")
        if answer.is_passing:
            return Unreachable(f"{start} the server failed ({status}). Try again later, or see its log.")
        if 300 <= status < 400:
            target = self.quoted(answer.headers.get("location", ""))
            return WrongWay(f"{start} the server redirects to {target}. Connect to that address.")
        return LabelStudioError(f"{start} Label Studio answered {status}{quoted}.")

    def quoted(self, text: object) -> str:
        """Text of the server for a message of ours: one short line, no markup, no key."""
        key = self.connection.key
        shown = redacted(str(text)[: READ_FOR_QUOTE + len(key)], key)[:READ_FOR_QUOTE]
        shown = " ".join(printable(_MARKUP.sub(" ", shown)).split()).rstrip(".")
        return shown if len(shown) <= LONGEST else shown[:LONGEST] + "…"


def _complaint(body: bytes) -> str:
    """What the body of an error says: its detail, if it is JSON that has one."""
    if len(body) > READ_FOR_QUOTE:
        return body[:READ_FOR_QUOTE].decode(errors="replace")
    try:
        said = decoded(body)
    except OddAnswer:
        return body.decode(errors="replace")
    if isinstance(said, dict):
        said = next((said[name] for name in ("validation_errors", "detail") if said.get(name)), said)
    try:
        return str(said or "")
    except RecursionError:
        return ""


def redacted(text: str, key: str) -> str:
    """A text without the key, or anything that looks like one."""
    return _SECRETS.sub("[key]", text.replace(key, "[key]"))
