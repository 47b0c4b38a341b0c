import pytest
from paper.tiny_paper import measure, plan_of, write_data


@pytest.fixture
def data(tmp_path):
    return write_data(tmp_path / "data")


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """The tiny paper, measured once: its plan, its folder, the cells in order, what was written."""
    folder = tmp_path_factory.mktemp("paper")
    plan = plan_of(write_data(folder / "data"))
    return plan, folder / "out", *measure(plan, folder / "out")
