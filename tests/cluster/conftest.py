import pytest

from toolkit.data import read_problems


@pytest.fixture(scope="session")
def problems():
    return read_problems("bundled:en").take(range(41))
