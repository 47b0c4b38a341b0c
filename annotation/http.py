"""One HTTP request and its whole answer, within bounds: bytes, seconds without a byte, seconds in all."""

import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.answers import OddAnswer
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    import httpx

WHOLE = 10  # times as long as for the next byte, for a whole answer
LARGEST = 128 * 2**20  # bytes of an answer: five hundred tasks have one or two million


@dataclass(frozen=True)
class HttpRequest:
    method: str
    url: str
    params: Mapping[str, Any] | None = None
    content: str | None = None  # JSON


@dataclass(frozen=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed in a moment."""
        return self.status in (408, 429) or self.status >= 500


class Http:
    """Sends requests, and follows no redirect: a key is for the address that the user named and for no other.

    What goes wrong on the way is an error of httpx, or `OddAnswer`.
    """

    def __init__(self, timeout: float, is_local: bool, ca: str | None = None) -> None:
        self.timeout, self.is_local, self.ca = timeout, is_local, ca
        self._client: httpx.Client | None = None

    def close(self) -> None:
        """Close the sockets. The next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def send(self, request: HttpRequest, authorization: str | None = None) -> HttpAnswer:
        import httpx

        headers = {"Accept": "application/json"}
        if authorization is not None:
            headers["Authorization"] = authorization
        if request.content is not None:
            headers["Content-Type"] = "application/json"
        client = self._opened(request.url)
        watch = threading.Timer(WHOLE * self.timeout, self.close)  # a byte now and then is no answer either
        watch.daemon = True
        watch.start()
        try:
            with client.stream(
                request.method, request.url, params=request.params, content=request.content, headers=headers
            ) as response:
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if len(body) > LARGEST:
                        raise OddAnswer(f"it is larger than {LARGEST:,} bytes")
                return HttpAnswer(response.status_code, response.headers, bytes(body))
        except Exception:
            if self._client is client:
                raise
            raise httpx.ReadTimeout("") from None  # the watch has closed it
        finally:
            watch.cancel()

    def _opened(self, url: str) -> "httpx.Client":
        import httpx

        if self._client is None:
            self._client = httpx.Client(
                timeout=self.timeout,
                follow_redirects=False,
                trust_env=not self.is_local,  # no proxy leads to this machine
                verify=self._trusted(url),
            )
        return self._client

    def _trusted(self, url: str) -> "bool | ssl.SSLContext":
        """The certificates to trust; none for plain http, for to load them takes longer than a request."""
        if not url.startswith("https://") or self.ca is None:
            return url.startswith("https://")
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ValueError):  # an SSLError is an OSError
            raise WarmkitError(f"{self.ca}: it is no file with certificates (PEM).") from None
