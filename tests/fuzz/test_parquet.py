"""Damaged Parquet files of every table: a frame, or an error that names the file.

They are read in a process of its own, with a limit of memory: what Polars can't allocate ends the process,
and that is what must not happen.
"""

import json
import os
import random
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import polars as pl
from commands import with_helpers
from mutate import damaged

from toolkit.data.schema import ANNOTATIONS, CANDIDATES, METRICS, PROBLEMS
from toolkit.errors import WarmkitError
from toolkit.storage.tables import count_rows, read_parquet, scan_parquet

MEMORY = 8 * 2**30  # bytes of addresses: some for the threads of Polars, few for what a file claims
TABLES = {"problems": PROBLEMS, "candidates": CANDIDATES, "annotations": ANNOTATIONS, "metrics": METRICS}
TEXTS = ["", "a", "Tom has 3 apples.", "N0 + N1", None, "फल"]
PACKED = ("zstd", "uncompressed", "snappy", "gzip")
AT_ONCE = 100  # cases for a process


def test_damaged_tables_are_tables_or_a_sentence(cases, tmp_path):
    seeds: list[int] = []
    for rng in cases(200):
        seeds.append(rng.getrandbits(48))
        if len(seeds) == AT_ONCE:
            run(seeds, tmp_path)
            seeds = []
    run(seeds, tmp_path)


def run(seeds: list[int], folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, __file__, str(folder)],
        input=json.dumps(seeds),
        capture_output=True,
        text=True,
        check=False,
        env=with_helpers(os.environ),
    )
    assert result.returncode == 0, f"{result.stdout[-200:]} {result.stderr[-3_000:]}"
    assert "panicked" not in result.stderr


def table(schema: pl.Schema, rng: random.Random) -> pl.DataFrame:
    rows = rng.choice((0, 1, 5, 300))
    columns = {
        name: [rng.choice(TEXTS) if dtype == pl.String else rng.randrange(9) for _ in range(rows)]
        for name, dtype in schema.items()
    }
    frame = pl.DataFrame(columns, schema=schema, strict=False)
    return frame if rng.random() < 0.8 else frame.with_columns(nested=pl.concat_list(pl.struct(pl.all())))


def main(folder: Path, seeds: list[int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    path = folder / "table.parquet"
    for seed in seeds:
        print(seed, flush=True)
        rng = random.Random(seed)
        schema = TABLES[rng.choice(list(TABLES))]
        size = rng.choice((100, None))
        table(schema, rng).write_parquet(path, compression=rng.choice(PACKED), row_group_size=size)
        path.write_bytes(damaged(path.read_bytes(), rng))
        for read in (read_parquet, partial(read_parquet, schema=schema), scan_parquet, count_rows):
            try:
                read(path)
            except WarmkitError as error:
                assert str(path) in str(error) and "\n" not in str(error) and len(str(error)) < 1_000


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.stdin.read()))
