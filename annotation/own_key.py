"""The key of a server that we own, whatever somebody did to it in Label Studio's own page.

A key that was reset there is gone for good, and the one that replaced it is asked for: a key that somebody
had a reason to throw away never works again. If legacy tokens were turned off, a personal access token is
made.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from toolkit.errors import WarmkitError

PATIENCE = 300.0  # seconds; it takes five to ten
_MARK = "warmkit key: "
_SCRIPT = f"""
import os, sys
import django, label_studio
sys.path.insert(0, os.path.dirname(label_studio.__file__))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "label_studio.core.settings.label_studio")
django.setup()
from jwt_auth.models import LSAPIToken
from rest_framework.authtoken.models import Token
from users.models import User
user = User.objects.filter(email=sys.argv[1]).first() or User.objects.filter(is_superuser=True).first()
if user.active_organization.jwt.legacy_api_tokens_enabled:
    key = Token.objects.get_or_create(user=user)[0].key
else:
    key = LSAPIToken.for_user(user).get_full_jwt()
print({_MARK!r} + key)
"""


def own_key(program: Path, user: str, environment: Mapping[str, str]) -> str:
    """A key of a user of the server whose `label-studio` this is, from its own database."""
    try:
        done = subprocess.run(
            [program.with_name("python"), "-c", _SCRIPT, user],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return _fail("its program does not answer")
    found = [line.removeprefix(_MARK) for line in done.stdout.splitlines() if line.startswith(_MARK)]
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return found[-1] if found else _fail(lines[-1][:300] if lines else "it says nothing")


def _fail(why: str) -> str:
    raise WarmkitError(f"Label Studio does not know our key any more, and no new one can be made: {why}.")
