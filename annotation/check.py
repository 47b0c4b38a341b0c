"""What works with a Label Studio server and what does not, in sentences. Nothing is written there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.api import call
from annotation.client import READ, Client, LabelStudioError, Refused
from annotation.environment import VERSION


@dataclass(frozen=True)
class Finding:
    name: str
    works: bool | None  # None: unknown
    sentence: str


def who(client: Client) -> str:
    """The user whose key it is; an error if it is nobody's."""
    return _user(client)[0]


def examine(client: Client) -> list[Finding]:
    """All findings about what the bridge needs, up to the first failure."""
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
    release, edition = _fields(client, "asking for its version", "api/version/", "release", "edition")
    if not isinstance(release, str):
        raise _not_label_studio(client)
    yield Finding("reachable", True, f"{client.url} is reached.")
    yield _version(release, edition)
    kind = "personal access token" if client.connection.key.startswith("eyJ") else "legacy token"
    name, permissions = _user(client)
    yield Finding("key", True, f"The key is valid: a {kind} of {name}.")
    if client.connection.warning:
        yield Finding("private", None, client.connection.warning)
    if not permissions:
        yield Finding("projects", None, "It is not known whether the user may make projects.")
    elif "projects.create" in permissions:
        yield Finding("projects", True, "The user may make projects.")
    else:
        yield Finding("projects", False, "The user may not make projects. Ask whoever runs the server.")
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
    name, permissions = _fields(client, "trying the key", "api/current-user/whoami", "email", "permissions")
    if not isinstance(name, str):
        raise _not_label_studio(client)
    return name, frozenset(map(str, permissions if isinstance(permissions, list) else ()))


def _fields(client: Client, what: str, path: str, *names: str) -> list[Any]:
    """Fields of an answer, None if it lacks them: whatever is at an address may answer anything."""
    found = call(client, what, "GET", path)
    return [found.get(name) if isinstance(found, dict) else None for name in names]


def _not_label_studio(client: Client) -> LabelStudioError:
    return LabelStudioError(f"{client.url}: this is not a Label Studio server. Check the address.")


def _version(release: str, edition: object) -> Finding:
    shown = f"It is Label Studio {release} ({edition or 'Community'})"
    if release == VERSION:
        return Finding("version", True, f"{shown}, which warmkit is tested with.")
    return Finding("version", None, f"{shown}; warmkit is tested with {VERSION}.")


def _webhook(client: Client) -> tuple[bool | None, str]:
    if client.connection.is_local:
        return None, (
            "Webhooks may be set. They reach this machine if the server was started by warmkit annotate "
            "serve, or with LABEL_STUDIO_SSRF_PROTECTION_ENABLED=false. Polling works without."
        )
    return None, "Webhooks may be set, if the server can reach this machine. Polling works without."
