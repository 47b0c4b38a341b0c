"""Ways to damage files and what they hold, each drawn from a seeded generator."""

import json
import random
from pathlib import Path
from typing import Any

NASTY: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 64, 100_000_000, -(10**18), 10**30, 0.5, -2.5, 1e308, 1e-300),
    *("", "x", "1", "-", "π", "N0 + N9", "\x00", "\ud800", "../../x", "9" * 5_000, "a\nb", "nan"),
    *([], {}, [[]], [None], [1, 2], ["a", "a"], {"a": {}}, {"": 0}),
)


def tamper_file(rng: random.Random, path: Path, others: list[Path]) -> str:
    """Damage one file in any way; what was done."""
    content = path.read_bytes()
    how = rng.choice(["flip", "flip", "cut", "delete", "swap", "empty", "grow", "zero"])
    if how == "flip":
        damaged = bytearray(content or b"x")
        for _ in range(rng.choice([1, 1, 2, 8, 64])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
    elif how == "cut":
        path.write_bytes(content[: rng.randrange(len(content) + 1)])
    elif how == "delete":
        path.unlink()
    elif how == "swap":
        path.write_bytes(rng.choice(others).read_bytes())
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "grow":
        path.write_bytes(content + rng.randbytes(rng.choice([1, 100, 10_000])))
    else:  # a block of zeros, as a crash of the machine leaves it
        at = rng.randrange(len(content) + 1)
        path.write_bytes(content[:at] + bytes(len(content[at : at + 4096])) + content[at + 4096 :])
    return f"{how} {path.name}"


def tamper_json(rng: random.Random, value: Any) -> Any:
    """The value with one change somewhere inside: another value, a key or an element less, or one twice."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        changed = dict(value)
        if rng.random() < 0.15:
            del changed[key]
        else:
            changed[key] = tamper_json(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + 1 :]
        if rng.random() < 0.2:
            return [*value[:at], value[at], *value[at:]]
        return [*value[:at], tamper_json(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return rng.choice([value + 1, value - 1, -value, value * 1000, float(value), str(value)])
    return rng.choice(NASTY)


def tamper_json_file(rng: random.Random, path: Path) -> str:
    value = json.loads(path.read_text(encoding="utf-8"))
    for _ in range(rng.choice([1, 1, 1, 3])):
        value = tamper_json(rng, value)
    path.write_text(json.dumps(value), encoding="utf-8")
    return f"change {path.name}"
