"""A Ray session: started for this process alone, or joined by its address; quiet, and gone without a trace.

Ray takes seconds to start, so it is imported and started only if workers are asked for.
"""

import errno
import os
import re
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.cluster.folder import ray_folder, session_folder, write_secret
from toolkit.errors import WarmkitError

OBJECT_STORE = 256 * 2**20  # bytes; Ray would take 30 % of the memory
RESTARTS = 3  # of a worker that has died
PATIENCE = 5.0  # seconds until an address counts as dead
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of storage
TOO_SLOW = "timed out during startup"  # in Ray's error for a node that a busy machine did not start in time
STORAGE_ERROR = re.compile(r"(OS|FileNotFound|Permission|NotADirectory)Error: ")  # in Ray's errors
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",  # a report costs one such interval, 2 s by default
    "RAY_TRAIN_ENABLE_PREEMPTION_WATCHER": "0",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "300",
    "RAY_worker_register_timeout_seconds": "300",  # on a busy machine a process starts slowly
    "RAY_raylet_start_wait_time_s": "300",  # so does a node
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_COLOR_PREFIX": "0",
}
# Despite its name: if it is 0, the address of a node is 127.0.0.1, and none of its ports listens elsewhere.
LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


@dataclass(frozen=True)
class ClusterSpec:
    """Which cluster, and how much of it. Without an address: this machine, while the session lasts."""

    workers: int = 1
    gpu: bool = False
    address: str | None = None
    dashboard: bool = False
    verbose: bool = False


@dataclass(frozen=True)
class Session:
    spec: ClusterSpec
    dashboard: str | None = None  # its URL, None if there is none
    token: Path | None = None  # a file with the token that its page asks for, if this process made it

    @property
    def notice(self) -> str | None:
        """Where the dashboard is, if there is one, and what to look at there."""
        if self.dashboard is None:
            return None
        token = "`ray get-auth-token` on the cluster's head prints it."
        if self.token is not None:
            token = f"the one in {self.token}, which only you can read."
        return (
            f"Ray's dashboard: {self.dashboard} (see Actors, Jobs and Logs). "
            f"Training runs, by their names: {self.dashboard}/api/train/v2/runs/v1\n"
            f"It asks for a token: {token}"
        )

    def require(self, workers: int) -> None:
        """Fail at once if the cluster is too small: Ray would wait for ever, and say nothing."""
        import ray

        kind = "GPU" if self.spec.gpu else "CPU"
        available = int(ray.cluster_resources().get(kind, 0))
        if available < workers:
            raise WarmkitError(
                f"{workers} workers need a {kind} each, but the cluster has {available or 'none'}.",
                "cluster-too-small" if available else "",
                available=available,
            )


@contextmanager
def session(spec: ClusterSpec) -> Iterator[Session]:
    """Ray, ready for work. A session that this process already has is used, and not ended."""
    prepare(spec)
    import ray

    if ray.is_initialized():
        yield Session(spec)
        return
    with session_folder() as folder:
        try:
            url = start(spec, folder).dashboard_url
            if spec.dashboard and url:
                own = spec.address is None
                token = write_secret(folder / "token", os.environ["RAY_AUTH_TOKEN"]) if own else None
                yield Session(spec, f"http://{url}", token)
            else:
                yield Session(spec)
        finally:
            ray.shutdown()


def start(spec: ClusterSpec, folder: Path, **settings: Any) -> Any:
    """Start Ray with its files in the folder of a session, or join it; the settings are of `ray.init`."""
    import ray

    quiet = {"logging_level": "INFO" if spec.verbose else "ERROR", "log_to_driver": spec.verbose}
    try:
        if spec.address is not None:
            check_reachable(spec.address)
            return ray.init(address=spec.address, **quiet)
        own: dict[str, Any] = {"include_dashboard": spec.dashboard, "object_store_memory": OBJECT_STORE}
        own |= {"_temp_dir": str(ray_folder(folder))}
        try:
            return ray.init("local", **own, **quiet, **settings)
        except Exception as error:
            if TOO_SLOW not in str(error):
                raise
            ray.shutdown()  # another try, when what made the machine busy may be over
            return ray.init("local", **own, **quiet, **settings)
    except (ConnectionError, TimeoutError, socket.gaierror):
        raise WarmkitError(
            f"{spec.address}: there is no Ray cluster at this address, or it can't be reached. "
            "`ray status` on the cluster's head says whether it runs; its address is host:6379."
        ) from None
    except Exception as error:  # Ray raises many kinds, a bare one if a busy machine starts it too slowly
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if "ersion mismatch" in first:  # the lines after it name both
            both = " ".join(str(error).partition("mismatch:")[2].split()).rstrip(".")
            raise WarmkitError(
                f"{spec.address}: the cluster has other versions than this machine. {both}. "
                "Install the same Ray and Python on both."
            ) from None
        raise WarmkitError(f"{spec.address or 'Ray'}: it could not be started: {first}") from None


def check_reachable(address: str) -> None:
    """Fail if nobody listens at the address: Ray itself would try for minutes, and say so on every line."""
    if address == "auto":  # the cluster of this machine, which Ray finds
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ConnectionError
    with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE):
        pass


def prepare(spec: ClusterSpec) -> None:
    """Ray reads its settings from the environment when it is imported; what a person has set there stays.

    A cluster of our own always asks for a token. It is one that only this process knows: Ray would write one
    to a file.
    """
    loaded = sys.modules.get("ray")
    if loaded is not None and loaded.is_initialized():
        return
    if loaded is not None and spec.address is None and os.environ.get("RAY_AUTH_MODE") != "token":
        raise WarmkitError(
            "Ray is imported already, without RAY_AUTH_MODE=token: everybody on this machine could use a "
            "session of it. Import it later, or start it yourself (ray.init)."
        )
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if spec.dashboard or spec.address is not None:  # what /api/train tells; it costs a process
        os.environ.setdefault("RAY_TRAIN_ENABLE_STATE_TRACKING", "1")
    if spec.address is None:
        os.environ.setdefault(LOOPBACK, "0")
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = os.environ.get("RAY_AUTH_TOKEN") or secrets.token_urlsafe(24)


def would_fail_again(error: Exception) -> bool:
    """Whether what happened on a worker is the fault of data, settings or a full storage."""
    cause = _cause(error)
    return isinstance(cause, WarmkitError) or (isinstance(cause, OSError) and cause.errno in FULL)


def worker_error(error: Exception, what: str, storage: str = "") -> WarmkitError:
    """What happened on a worker, as a sentence: Ray wraps it in errors of its own."""
    cause = _cause(error)
    if isinstance(cause, WarmkitError):
        return cause
    text = str(cause).strip()
    last = text.splitlines()[-1] if text else type(cause).__name__
    if storage and (isinstance(cause, OSError) or "storage_path" in text or STORAGE_ERROR.match(last)):
        return WarmkitError(f"{storage}: this storage can't be used: {last}")
    return WarmkitError(f"{what} on the workers failed: {last}")


def _cause(error: Exception) -> BaseException:
    """What an error of Ray began with, on the first worker that failed."""
    failures = getattr(error, "worker_failures", None) or {}
    cause: BaseException = next(iter(failures.values()), error)
    while not isinstance(cause, WarmkitError):
        wrapped = (getattr(cause, name, None) for name in ("cause", "_base_exc", "__cause__"))
        inner = next((found for found in wrapped if isinstance(found, BaseException)), None)
        if inner is None:
            break
        cause = inner
    return cause
