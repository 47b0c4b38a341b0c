"""Label Studio taps us on the shoulder: somebody annotated, so look now and not at the next poll.

A webhook is sent once, unsigned, and may be lost: it only wakes whoever polls, and nothing in it is
believed or even read. It reaches this machine only from a server on this machine.
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from annotation.client import READ, WRITE, Client, LabelStudioError
from annotation.listener import authorization, listening
from toolkit.errors import WarmkitError

PATH = "/warmkit-wake"
LARGEST = 64 * 1024  # bytes; without its payload, a webhook has a few dozen
ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_DELETED",
)


class Bell:
    """Rings when something happened. `wait` is a sleep that a ring ends early."""

    def __init__(self) -> None:
        self._rung = threading.Event()

    def ring(self) -> None:
        self._rung.set()

    def wait(self, seconds: float) -> bool:
        """Whether it rang, now or since the last time."""
        rang = self._rung.wait(seconds)
        if rang:
            self._rung.clear()
        return rang


@contextmanager
def bell(client: Client, project: int, port: int = 0) -> Iterator[Bell]:
    """A bell for a project: the webhook is set when the block begins, and taken away when it ends."""
    if not client.connection.is_local:
        raise WarmkitError(
            f"{client.url}: a webhook can't reach this machine from there; we listen on loopback alone. "
            "Leave it out: asking now and then does the same, a little later."
        )
    bell, secret = Bell(), secrets.token_urlsafe(32)

    def answer(method: str, path: str, body: Any) -> dict[str, Any] | None:
        if (method, path) != ("POST", PATH):
            return None
        bell.ring()
        return {"status": "ok"}

    with listening(answer, secret, LARGEST, port) as url:
        with client.translated(f"setting the webhook of project {project}"):
            _remove_old(client, project)
            hook = client.sdk.webhooks.create(
                project=project,
                url=url + PATH,
                headers={"Authorization": authorization(secret)},
                send_payload=False,
                send_for_all_actions=False,
                actions=list(ACTIONS),
                is_active=True,
                request_options=WRITE,
            )
        try:
            yield bell
        finally:
            with suppress(LabelStudioError), client.translated("taking the webhook away"):
                client.sdk.webhooks.delete(int(hook.id or 0), request_options=WRITE)


def _remove_old(client: Client, project: int) -> None:
    """Those of ours that a kill left behind: nobody listens there any more, and each costs a second."""
    for hook in client.sdk.webhooks.list(project=str(project), request_options=READ):
        if (hook.url or "").endswith(PATH):
            client.sdk.webhooks.delete(int(hook.id or 0), request_options=WRITE)
