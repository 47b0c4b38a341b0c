"""Damage to bytes and to values, as disks, spreadsheets and enemies do it."""

import random
from typing import Any

PIECES = [
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\n", b"\t", b'"', b"'", b"\\"),
    *(b",", b";", b"{", b"}", b"[", b"]", b"[" * 3_000, b"<", b">", b"&", b"&amp;", b"\\ud800", b"\x1b[31m"),
    *(b"NaN", b"1e999", b"-", b"9" * 5_000, b"null", b"true", b"<!DOCTYPE x>", b"<?xml encoding='utf-7'?>"),
]

VALUES: list[Any] = [
    *(None, True, "", " ", [], {}, [[]], [None], {"a": {}}, -1, 0, 10**400, -(10**30), 0.1, float("inf")),
    *(float("nan"), float("-inf"), "\ud800", "\udcff 5", "5 \0 6", "=1+1", "-5", "\t5", "\x1b]0;x\x07 3 4"),
    *("\u202e 3 4", "NaN", "1e999", "9" * 300, "9" * 5_000, "x" * 30_000, "5 " * 70, "5/0", "2^2^2^2^9"),
    *("[bold]3[/bold]", "((((" * 30, "N0", "x = ?", ["3 + 4"], [["3"]], {"text": "3"}, b"raw", "2024-99-99"),
]


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four of them changed, lost, doubled, or others put between them."""
    changed = bytearray(raw)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        until = at + rng.choice((1, 1, 2, 8, 64))
        match rng.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                changed[at:at] = rng.choice(PIECES)
            case 2:
                del changed[at:until]
            case 3:
                changed[at:at] = changed[at:until]
            case 4:
                changed[at:until] = rng.choice(PIECES)
    if rng.random() < 0.1:
        del changed[rng.randrange(len(changed) + 1) :]
    return bytes(changed)


def odd_value(rng: random.Random) -> Any:
    return rng.choice(VALUES)


def spoilt(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A record with an odd value, without a field, or with a field too many."""
    changed = dict(record)
    name = rng.choice(list(changed))
    match rng.randrange(4):
        case 0:
            del changed[name]
        case 1:
            changed[rng.choice(("\ud800", "", "=x", "text", "answer", "\x1b", "fold"))] = odd_value(rng)
        case _:
            changed[name] = odd_value(rng)
    return changed
