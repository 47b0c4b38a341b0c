"""Cells on the real Ray."""

import json

from click.testing import CliRunner
from paper.tiny_paper import measure, plan_of, worker_of

from toolkit.cli import main
from toolkit.paper.run import paper_folder
from toolkit.paper.write import write_paper
from toolkit.pieces.run import run
from toolkit.pieces.spread import RayExecutor


def test_cells_on_workers_come_to_the_same(session, measured, data, tmp_path):
    plan, out, begun = plan_of(data), tmp_path / "out", []
    with paper_folder(out, resume=False) as files:
        executor = RayExecutor(session, worker_of(plan, files), out)
        assert executor.slots == 2
        run(plan, {}, executor, on_begin=lambda cell: begun.append(cell.name))
        written = write_paper(plan, files, "")
    assert sorted(begun) == sorted(measured[2])
    assert written.counts == {"measured": 6, "failed": 0, "left": 0}

    def shares(tables):
        return [
            (place.right, place.of) for shown in tables for row in shown.rows for place in row.places.values()
        ]

    assert shares(written.tables) == shares(measured[3].tables)
    assert measure(plan, out, resume=True)[0] == []


def test_the_command_measures_on_workers(session, sampling, data, tmp_path):
    options = ["--data", str(data), "--out", str(tmp_path / "out"), "--workers", "2", "--json"]
    result = CliRunner().invoke(main, ["paper", *options])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["measured"], figures["left"]) == (2, 0)
    assert result.stderr.count("cell ") == 2
