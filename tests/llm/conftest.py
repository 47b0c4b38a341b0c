import pytest
from llm.chat_server import chat_server, says


@pytest.fixture
def server():
    """A model that always writes N0 + N1, until a test gives it another script."""
    with chat_server(lambda body, number: says("N0 + N1")) as served:
        yield served


@pytest.fixture(autouse=True)
def without_key(monkeypatch):
    for name in ("WARMKIT_LLM_KEY", "WARMKIT_LLM_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
