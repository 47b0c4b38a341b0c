"""What the nodes of a cluster must have, checked before any work goes there.

Ray itself notices that a node does not see a folder only when that node writes a checkpoint, epochs later.
It never notices another version of warmkit there.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from toolkit.cluster.session import Session
from toolkit.errors import WarmkitError

Seen: TypeAlias = tuple[dict[str, str | None], bool]  # versions of packages, and whether the marker exists
Look: TypeAlias = Callable[[Sequence[str], str | None], Seen]
PATIENCE = 300.0  # seconds to wait for answers; a node that is busy takes a while to start a process
PACKAGES = ("warmkit", "torch", "polars")  # Ray itself compares its own version and that of Python


def check_nodes(session: Session, storage: str | None = None) -> None:
    """Fail if a node of a remote cluster has other packages, or does not see the storage folder."""
    if session.spec.address is None:  # this machine alone
        return
    look = _look()
    with _marked(storage) as marker:
        nodes = _ask_all(look, marker)
    ours, _ = look(PACKAGES, None)
    for name, (theirs, sees) in nodes.items():
        for package, own in ours.items():
            if theirs[package] != own:
                raise WarmkitError(
                    f"Node {name} has {package} {theirs[package] or '(none)'}, this machine {own}. "
                    "Install the same there: pip install -c constraints.txt ."
                )
        if not sees:
            raise WarmkitError(
                f"{storage}: node {name} does not see this folder. It must be one that all nodes share.",
                "storage-not-shared",
            )


@contextmanager
def _marked(storage: str | None) -> Iterator[str | None]:
    """A file to look for in the storage while the nodes are asked. A URL is the same from everywhere."""
    if storage is None or "://" in storage:
        yield None
        return
    marker = Path(storage) / f".warmkit-{secrets.token_hex(8)}"
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError as error:
        raise WarmkitError(f"{storage}: it can't be written to ({error.strerror}).") from None
    try:
        yield str(marker)
    finally:
        marker.unlink()


def _look() -> Look:
    """A function that Ray sends as code, not by its name: the node may not have warmkit."""

    def look(packages: Sequence[str], marker: str | None) -> Seen:
        from importlib.metadata import PackageNotFoundError, version
        from pathlib import Path

        found: dict[str, str | None] = {}
        for package in packages:
            try:
                found[package] = version(package).partition("+")[0]  # 2.13.0+cpu goes with 2.13.0+cu130
            except PackageNotFoundError:
                found[package] = None
        return found, marker is None or Path(marker).exists()

    return look


def _ask_all(look: Look, marker: str | None) -> dict[str, Seen]:
    """What each node sees, by its address; only nodes that can work, and that answer."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    asked = {}
    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            affinity: Any = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            task = ray.remote(num_cpus=0, scheduling_strategy=affinity, name="warmkit looks at a node")(look)
            asked[f"{node['NodeManagerAddress']} ({node['NodeID'][:6]})"] = task.remote(PACKAGES, marker)
    answered, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=PATIENCE)
    seen = {}
    for name, task in asked.items():
        with suppress(ray.exceptions.RayError):  # Ray itself handles a node that has just died
            if task in answered:
                seen[name] = ray.get(task)
    return seen
