"""Another user of the machine, who knows everything of a session but its token, and wants to run a command.

python intruder.py USER MARKER < what lives.py prints: tells as JSON what succeeded. The command would make
the file MARKER.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

APIS = ("/api/jobs/", "/api/job_agent/jobs/", "/get_or_create_runtime_env")


def works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, HTTPException):  # refused, not HTTP, or an answer like 401
        return False
    return True


def submits(port: int, api: str, command: str) -> bool:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{api}",
        data=json.dumps({"entrypoint": command}).encode(),
        headers={"Content-Type": "application/json"},
    )
    return works(lambda: urllib.request.urlopen(request, timeout=60).close())


def main() -> None:
    given = json.loads(sys.stdin.read())
    works(lambda: urllib.request.urlopen("http://127.0.0.1:9/"))  # loads what it needs, while it can
    user, marker = int(sys.argv[1]), sys.argv[2]
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    token = Path(given["token"])
    achieved = {
        "listed": works(lambda: list(token.parent.iterdir())),
        "read": works(token.read_bytes),
        "entered": works(lambda: list((token.parent / "r").iterdir())),
        "submitted": [
            (port, api)
            for port in sorted({port for _, _, port in given["listening"]})
            for api in APIS
            if submits(port, api, f"touch {marker}")
        ],
    }
    print(json.dumps(achieved))


if __name__ == "__main__":
    main()
