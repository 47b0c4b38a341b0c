"""How many threads the commands compute with: one, unless a person says otherwise.

Threads of torch wait for each other by spinning. Beside another busy process they wait for a core as well,
and training all but stops (bench/busy.py); on a quiet machine a second thread gains little at the default
sizes, and much at 512 units (bench/ray.py). Cores are used by processes instead: the networks of a
solver, Ray workers, and the trials of a sweep.

In Python, torch's threads belong to the program that imports warmkit.
"""

import os
import sys

POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # of torch and numpy


def use_threads(count: int | None = None) -> None:
    """Let this process, and those that it starts, compute with so many threads; by default with one.

    torch reads the environment when it is loaded. What a person has set there is a choice too.
    """
    if count is None and any(os.environ.get(pool) for pool in POOLS):
        return
    os.environ |= dict.fromkeys(POOLS, str(count or 1))
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count or 1)
