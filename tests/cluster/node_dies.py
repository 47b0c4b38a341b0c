"""A loop of two rounds on a cluster of three nodes, one of which is killed in the middle of the second.

Its problems count as too many to be held: WARM is trained on prepared parts.

python node_dies.py FOLDER: prints, as JSON, how the run ended and how often a node was killed.
"""

import json
import sys
from pathlib import Path

import ray
import torch
from ray.cluster_utils import Cluster
from tiny import TINY

from toolkit.cluster.session import ClusterSpec, Session
from toolkit.compute import ClusterCompute
from toolkit.config import load_config
from toolkit.data import stored
from toolkit.loop import run as running
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run
from toolkit.loop.view import Quiet


def children(process: int) -> list[str]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [Path(f"/proc/{child}/cmdline").read_text() for child in found if Path(f"/proc/{child}").exists()]


class KillsANode(Quiet):
    """Kills a node that a training worker lives on, when the first epoch of the second round is done."""

    def __init__(self, cluster, nodes) -> None:
        self.cluster, self.nodes, self.now, self.killed = cluster, nodes, (0, ""), 0

    def stage(self, round_, name):
        self.now = (round_, name)

    def progress(self, done, total):
        if self.now != (2, "train") or self.killed:
            return
        for node in self.nodes:
            raylet = node.all_processes["raylet"][0].process.pid
            if any("RayTrainWorker" in name for name in children(raylet)):
                self.cluster.remove_node(node, allow_graceful=False)
                self.killed += 1
                return


def main() -> None:
    root, stored.MOST_HELD, running.MOST_HELD = Path(sys.argv[1]), 0, 0
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    settings = (*TINY, "later_epochs=12", "stop.rounds=1", "stop.kappa=null", "solver_each_round=false")
    run = create_run(root, "nodes", load_config(LoopConfig, None, settings))
    view = KillsANode(cluster, nodes)
    session, storage = Session(ClusterSpec(workers=2)), str(root / "storage")
    compute = ClusterCompute(torch.device("cpu"), session, storage)
    stop = Loop(run, annotator_of(run), view=view, compute=compute).rounds()
    rounds = {r: result for r in (1, 2) if (result := run.ledger.result(r, "train"))}
    parts = len(list((run.folder / "prepared").glob("*/part-*.parquet")))
    epochs = [rounds[r]["epochs"] for r in rounds]
    print(json.dumps({"rule": stop.rule, "killed": view.killed, "epochs": epochs, "parts": parts}))
    run.ledger.close()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
