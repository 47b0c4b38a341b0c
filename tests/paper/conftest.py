import pytest
from paper.tiny_paper import SAMPLING, measure, plan_of, write_data

from toolkit.paper import tables
from toolkit.paper.tables import Table


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data")


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """The tiny paper, measured once: its plan, its folder, the cells in order, what was written."""
    folder = tmp_path_factory.mktemp("paper")
    plan = plan_of(write_data(folder / "data"))
    return plan, folder / "out", *measure(plan, folder / "out")


@pytest.fixture
def sampling(monkeypatch):
    """One table with one row that needs no training, so that the settings can be those of the command."""
    monkeypatch.setattr(tables, "TABLES", (Table(1, "Generation", "reached", (SAMPLING,)),))
