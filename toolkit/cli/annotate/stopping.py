"""How a command that serves until Ctrl-C is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from toolkit.cli.output import echo

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def until_stopped(farewell: str) -> Iterator[None]:
    """Ctrl-C, a plain kill and a closed terminal all end the block cleanly, and the command with code 0."""
    before = [signal.getsignal(number) for number in SIGNALS]
    for number, handler in zip(SIGNALS, before, strict=True):
        if number != signal.SIGHUP or handler != signal.SIG_IGN:  # nohup: go on when the terminal closes
            signal.signal(number, _stop)
    try:
        yield
    except KeyboardInterrupt:
        echo(farewell, err=True)
    finally:
        for number, handler in zip(SIGNALS, before, strict=True):
            signal.signal(number, handler)


def _stop(received: int, frame: FrameType | None) -> None:
    """Stop once; further signals don't disturb the clean-up."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
