"""How many cases a fuzzer tries, and with which seeds.

`make test` gives every fuzzer the few cases that it asks for, with the same seeds every time. `make fuzz
MINUTES=60` divides that time among the fuzzers, with new seeds. A failure prints its seed: FUZZ_SEED repeats
that case alone. What a fuzzer finds becomes a test with a name, beside those of the part that failed.
"""

import os
import random
import time
import zlib
from collections.abc import Callable, Iterator

import pytest

MINUTES, SEED = "FUZZ_MINUTES", "FUZZ_SEED"
Cases = Callable[[int], Iterator[random.Random]]


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> Iterator[Cases]:
    """`for rng in cases(200)`: a seeded generator a case, 200 or as many as there is time for."""
    tried: list[int] = []

    def seeds(count: int) -> Iterator[int]:
        if SEED in os.environ:
            yield int(os.environ[SEED])
        elif MINUTES in os.environ:
            end = time.monotonic() + 60 * float(os.environ[MINUTES]) * share(request.session.items)
            while time.monotonic() < end:
                yield random.SystemRandom().getrandbits(48)
        else:
            first = zlib.crc32(request.node.nodeid.encode())
            yield from range(first, first + count)

    def run(count: int) -> Iterator[random.Random]:
        for seed in seeds(count):
            tried.append(seed)
            yield random.Random(seed)

    yield run
    print(f"{len(tried)} cases. The last again: {SEED}={tried[-1]} pytest '{request.node.nodeid}'")


def share(items: list[pytest.Item]) -> float:
    """The share of the time that one fuzzer gets, if they run in several processes at once."""
    fuzzers = sum("cases" in getattr(item, "fixturenames", ()) for item in items)
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) / fuzzers
