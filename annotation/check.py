"""What works with a Label Studio server and what does not, in sentences. Nothing is written there."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.answers import ListedWebhook, Version, Whoami
from annotation.client import Client, LabelStudioError, Refused, Unreachable, WrongWay
from annotation.environment import VERSION


@dataclass(frozen=True)
class Finding:
    name: str
    works: bool | None  # None: unknown
    sentence: str


def who(client: Client) -> str:
    """The user whose key it is; an error if it is nobody's, or if there is no Label Studio at the address."""
    try:
        return _user(client).email
    except (Unreachable, WrongWay):
        raise
    except LabelStudioError as error:
        if client.is_label_studio():
            raise
        raise LabelStudioError(
            f"{client.url}: this is no Label Studio. Take the address that the browser shows for its first "
            f"page. ({str(error).removeprefix(f'{client.url}: ')})"
        ) from None


def examine(client: Client) -> list[Finding]:
    """All findings about what the bridge needs, up to the first failure."""
    findings: list[Finding] = []
    try:
        if not client.is_label_studio():
            sentence = f"{client.url} answers, but this is no Label Studio. Check the address."
            return [Finding("reachable", False, sentence)]
        findings.extend(_findings(client))
    except Refused as error:
        known = any(finding.name == "key" for finding in findings)
        findings.append(Finding("allowed" if known else "key", False, str(error)))
    except LabelStudioError as error:
        findings.append(Finding("reachable" if not findings else "answers", False, str(error)))
    return findings


def _findings(client: Client) -> Iterator[Finding]:
    version = client.call("asking for its version", Version, "GET", "api/version/")
    release = version.release
    yield Finding("reachable", True, f"{client.url} is reached.")
    yield _version(release, version.edition)
    kind = "personal access token" if client.connection.is_personal else "legacy token"
    user = _user(client)
    yield Finding("key", True, f"The key is valid: a {kind} of {user.email}.")
    if client.connection.warning:
        yield Finding("private", None, client.connection.warning)
    if not user.permissions:
        yield Finding("projects", None, "It is not known whether the user may make projects.")
    elif "projects.create" in user.permissions:
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
    client.call("asking for its webhooks", list[ListedWebhook], "GET", "api/webhooks/")
    yield Finding("webhook", *_webhook(client))


def _user(client: Client) -> Whoami:
    return client.call("trying the key", Whoami, "GET", "api/current-user/whoami")


def _version(release: str, edition: str | None) -> Finding:
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
