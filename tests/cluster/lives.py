"""A session with a dashboard, which trains on two workers and then lives until its standard input ends.

It prints, as JSON, what listens where while it trains, its processes' command lines, and where its files are.
"""

import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from tiny import WARM

from toolkit.cluster.fit import fit_on_workers
from toolkit.cluster.session import ClusterSpec
from toolkit.cluster.session import session as ray_session
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.methods import FitInput, FitOptions
from toolkit.methods.warm import Warm


def look() -> dict[str, Any]:
    """At all processes of the session."""
    import psutil  # it comes with Ray

    this = psutil.Process()
    command_lines, listening = [], []
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):  # it has just ended
            command_lines.append(" ".join(process.cmdline()))
            sockets = process.net_connections("inet")
            open_to = [socket.laddr for socket in sockets if socket.status in ("LISTEN", "NONE")]
            listening += [(process.name(), *address) for address in open_to]
    return {"command_lines": command_lines, "listening": listening}


def main() -> None:
    problems = read_problems("bundled:en").take(range(41))
    data = FitInput(problems, problems.gold_templates, load_config(Warm.Config, None, WARM))
    seen: dict[str, Any] = {}

    with ray_session(ClusterSpec(workers=2, dashboard=True)) as session:
        import ray

        with tempfile.TemporaryDirectory() as out:
            options = FitOptions(on_epoch=lambda epoch: seen.update(look() if epoch.epoch == 1 else {}))
            fit_on_workers(session, Warm, data, Path(out) / "model", options, label="lives")
        seen |= {"token": str(session.token), "gcs": ray.get_runtime_context().gcs_address}
        print(json.dumps(seen), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
