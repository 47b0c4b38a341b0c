"""How a command that serves until Ctrl-C is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def until_stopped(farewell: str) -> Iterator[None]:
    """Ctrl-C, a plain kill and a closed terminal all end the block in good order, and the command well."""
    before = [signal.getsignal(one) for one in SIGNALS]
    for one, handler in zip(SIGNALS, before, strict=True):
        if one != signal.SIGHUP or handler != signal.SIG_IGN:  # nohup says: stay when the terminal closes
            signal.signal(one, _stop)
    try:
        yield
    except KeyboardInterrupt:
        click.echo(farewell, err=True)
    finally:
        for one, handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop once; further signals don't disturb the stopping."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt
