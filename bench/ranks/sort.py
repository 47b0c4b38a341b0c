"""The process that prepares the lessons of a solver: candidates come into the order of their problems.

python bench/ranks/sort.py PREPARED CANDIDATES: prints its figures as JSON (bench/scale.py).
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from peak import peak_mb

from toolkit.data.prepared import read_prepared
from toolkit.data.sorted_candidates import sort_candidates


def main() -> None:
    problems = read_prepared(Path(sys.argv[1]))
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        sort_candidates(Path(sys.argv[2]), problems, Path(folder))
    figures = {
        "problems": len(problems),
        "sort_core_seconds": time.process_time() - begun,
        "peak_mb": peak_mb(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
