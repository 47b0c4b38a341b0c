"""What works at a Label Studio and what does not, in sentences. Nothing is written there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.client import READ, Client, LabelStudioError, Refused
from annotation.environment import VERSION
from annotation.wire import answered


@dataclass(frozen=True)
class Finding:
    name: str
    works: bool | None  # None: it can't be told from here
    sentence: str


def who(client: Client) -> str:
    """The user whose key it is; an error where it is nobody's."""
    return _user(client)[0]


def examine(client: Client) -> list[Finding]:
    """Everything that the bridge needs, as far as it can be seen; the first thing that fails ends it."""
    findings: list[Finding] = []
    try:
        findings.extend(_findings(client))
    except Refused as error:
        known = any(finding.name == "key" for finding in findings)
        findings.append(Finding("allowed" if known else "key", False, str(error)))
    except LabelStudioError as error:
        findings.append(Finding("reachable" if not findings else "answers", False, str(error)))
    return findings


def _findings(client: Client) -> Iterator[Finding]:
    release, edition = _asked(client, "asking for its version", "api/version/", "release", "edition")
    if not isinstance(release, str):
        raise _another(client)
    yield Finding("reachable", True, f"{client.url} is reached.")
    yield _version(release, edition)
    kind = "personal access token" if client.connection.key.startswith("eyJ") else "legacy token"
    name, permissions = _user(client)
    yield Finding("key", True, f"The key is valid: a {kind} of {name}.")
    if client.connection.warning:
        yield Finding("private", None, client.connection.warning)
    if not permissions:
        yield Finding("projects", None, "Whether the user may make projects shows when one is made.")
    elif "projects.create" in permissions:
        yield Finding("projects", True, "The user may make projects.")
    else:
        yield Finding("projects", False, "The user may not make projects: ask who runs the server.")
    tested = release == VERSION
    yield Finding(
        "uncertainty",
        True if tested else None,
        "Label All Tasks shows the problems that the model is least sure of first."
        if tested
        else f"Ordering by uncertainty is known to work with {VERSION}, and untried with {release}.",
    )
    with client.translated("asking for its webhooks"):
        client.sdk.webhooks.list(request_options=READ)
    yield Finding("webhook", *_webhook(client))


def _user(client: Client) -> tuple[str, frozenset[str]]:
    name, permissions = _asked(client, "trying the key", "api/current-user/whoami", "email", "permissions")
    if not isinstance(name, str):
        raise _another(client)
    return name, frozenset(map(str, permissions if isinstance(permissions, list) else ()))


def _asked(client: Client, what: str, path: str, *names: str) -> list[Any]:
    """Fields of an answer, None where it has them not: whoever is at an address may say anything."""
    found = answered(client, what, "GET", path)
    return [found.get(name) if isinstance(found, dict) else None for name in names]


def _another(client: Client) -> LabelStudioError:
    return LabelStudioError(f"{client.url}: what answers there is no Label Studio. Check the address.")


def _version(release: str, edition: object) -> Finding:
    shown = f"It is Label Studio {release} ({edition or 'Community'})"
    if release == VERSION:
        return Finding("version", True, f"{shown}, which warmkit is tested with.")
    return Finding("version", None, f"{shown}; warmkit is tested with {VERSION}.")


def _webhook(client: Client) -> tuple[bool | None, str]:
    if client.connection.is_local:
        return None, (
            "Webhooks may be set; one to this machine arrives where the server was started by warmkit "
            "annotate serve, or with LABEL_STUDIO_SSRF_PROTECTION_ENABLED=false. Polling works without."
        )
    return None, "Webhooks may be set, if the server can reach this machine. Polling works without."
