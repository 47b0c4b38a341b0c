"""A real Label Studio for the tests, started once for the session."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from integration.started import started
from label_studio_sdk import LabelStudio as SDK

from annotation.client import Client
from annotation.environment import NotInstalled
from annotation.server import Server


@dataclass(frozen=True)
class LabelStudio:
    """A server for tests: everything one needs to reach it."""

    server: Server
    client: Client
    program: Path
    sdk: SDK  # Label Studio's own client
    empty: Path  # a folder like the server's, before its first start: to be copied

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def key(self) -> str:
        return self.server.connection.key

    @property
    def user(self) -> str:
        return self.server.user

    @property
    def password(self) -> str:
        return self.server.password


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory):
    """The real server: url, key, user, password, client."""
    with ExitStack() as stack:
        try:
            server, program, empty = stack.enter_context(
                started(tmp_path_factory.mktemp("studio") / "server")
            )
        except NotInstalled as error:
            pytest.skip(f"There is no Label Studio to test with: {error}")
        client = stack.enter_context(Client(server.connection))
        http = stack.enter_context(httpx.Client(trust_env=False, timeout=60))
        sdk = SDK(base_url=server.url, api_key=server.connection.key, httpx_client=http)
        yield LabelStudio(server, client, program, sdk, empty)


@pytest.fixture(scope="session")
def personal_token(label_studio):
    """A personal access token, made as a person makes it: logged in, in Account & Settings."""
    page = f"{label_studio.url}/user/login/"
    with httpx.Client(
        base_url=label_studio.url, headers={"Referer": page}, trust_env=False, timeout=60
    ) as browser:
        browser.get("/user/login/")
        form = {"email": label_studio.user, "password": label_studio.password}
        browser.post(page, data={**form, "csrfmiddlewaretoken": browser.cookies["csrftoken"]})
        made = browser.post("/api/token/", headers={"X-CSRFToken": browser.cookies["csrftoken"]})
        assert made.status_code == 201
        return made.json()["token"]
