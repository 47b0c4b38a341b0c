"""Which option helps with an error of the library. The library itself speaks only of the data."""

from toolkit.errors import WarmkitError

HINTS = {
    "bad-rows": "Fix them, or keep the good rows alone with --skip-bad.",
    "unknown-format": "Name its columns with --text, --answer and so on.",
    "unknown-constant": "Give --constants {constants}, like the model that made it.",
    "no-equations": "Give --candidates, or allow gold equations.",
    "no-cuda": "Use --device cpu.",
    "cluster-too-small": "Take --workers {available} or fewer, or a larger cluster (--address).",
    "storage-not-shared": "Name one with --storage.",
    "damaged-run": "`warmkit runs repair` saves what can be read.",
    "training-exists": "Go on with --resume, or name another folder.",
    "training-stopped": "Go on with --resume.",
    "no-annotations": "Name a file that has some with --annotations, or other problems.",
    "nothing-to-ask": "Hide them with --set known=0, or some of them with --set known=0.1.",
    "no-llm": "Name its server with --set llm.url=URL.",
    "run-exists": "Go on with --resume, or name another one with --run.",
    "sweep-exists": "Go on with --resume, or name another one with --name.",
    "no-sweep": "Leave out --resume.",
    "sweep-changed": "Resume with the same file and settings, or begin a new sweep with another --name.",
    "measurements-exist": "Go on with --resume, or name another folder with --out.",
    "no-measurements": "Leave out --resume.",
    "no-data-folder": "Name the folder of the problem sets with --data.",
    "not-reachable": "Name the address that reaches it: --host ADDRESS, or --public-url URL.",
    "port-taken": "Take another: --port {next}, or --port 0 for any that is free.",
}
COMMAND_HINTS = {  # where a command has other options
    "tune": {"storage-not-shared": "Name one with --out."},
    "paper": {
        "storage-not-shared": "Name one with --out.",
        "bad-rows": "Fix them, or write a file of the good rows with `warmkit data import --skip-bad`.",
    },
}


def with_hint(error: WarmkitError, command: str | None = None) -> str:
    """The message of an error, with what to do at the command line."""
    hint = COMMAND_HINTS.get(command or "", {}).get(error.code) or HINTS.get(error.code)
    if hint is None:
        return str(error)
    separator = "\n" if "\n" in str(error) else " "
    return f"{error}{separator}{hint.format(**error.details)}"
