"""A webhook that wakes whoever polls: something was annotated, so look now and not at the next poll.

A webhook is sent once, unsigned, and may be lost. So it only ends a sleep early; nothing in it is believed
or even read. Each call must carry a secret.
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from annotation.answers import ListedWebhook, Made
from annotation.client import Client, LabelStudioError
from annotation.listener import LOOPBACK, Listen, authorization, listening

PATH = "/warmkit-wake-up"
LARGEST = 64 * 1024  # bytes; without its payload, a webhook has a few dozen
ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_DELETED",
)


class WakeUp:
    """`wait` is a sleep that `send` ends early."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def send(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Whether a wake-up was sent, now or since the last `wait`."""
        was_sent = self._event.wait(seconds)
        if was_sent:
            self._event.clear()
        return was_sent


@contextmanager
def webhook(client: Client, project: int, listen: Listen = LOOPBACK) -> Iterator[WakeUp]:
    """Sets a webhook on a project, and removes it when the block ends. Each call of it sends a wake-up."""
    listen.check(client.connection)
    wake_up, secret = WakeUp(), secrets.token_urlsafe(32)

    def answer(method: str, path: str, body: Any) -> dict[str, Any] | None:
        if (method, path) != ("POST", PATH):
            return None
        wake_up.send()
        return {"status": "ok"}

    with listening(answer, secret, LARGEST, listen) as url:
        _remove_old(client, project)
        hook = client.call(
            f"setting the webhook of project {project}",
            Made,
            "POST",
            "api/webhooks/",
            json={
                "project": project,
                "url": url + PATH,
                "headers": {"Authorization": authorization(secret)},
                "send_payload": False,
                "send_for_all_actions": False,
                "actions": ACTIONS,
                "is_active": True,
            },
        )
        try:
            yield wake_up
        finally:
            with suppress(LabelStudioError):
                _remove(client, hook.id)


def _remove_old(client: Client, project: int) -> None:
    """Remove our webhooks that a kill left behind: nobody listens to them, and each costs a second."""
    query = {"project": project}
    for hook in client.call("listing the webhooks", list[ListedWebhook], "GET", "api/webhooks/", query):
        if (hook.url or "").endswith(PATH):
            _remove(client, hook.id)


def _remove(client: Client, hook: int) -> None:
    client.request("removing a webhook", "DELETE", f"api/webhooks/{hook}/")
