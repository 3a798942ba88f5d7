"""How docker on this machine logs in to a registry. The credentials are sent only to that
registry.
"""

import base64
import os
from pathlib import Path

from herorun.core.errors import CouldNotLook
from herorun.core.untrusted_json import read_json
from herorun.system.process import run


def docker_login(host: str) -> str:
    """A Basic authorization from docker's configuration; "" if it has none for this host."""
    folder = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
    try:
        config = read_json((Path(folder) / "config.json").read_bytes())
        stored_logins, helpers = (
            dict(config.get("auths") or {}),
            dict(config.get("credHelpers") or {}),
        )
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, TypeError, AttributeError) as error:
        why = f"docker's configuration in {folder} cannot be read: {type(error).__name__}."
        raise CouldNotLook(why) from None
    for name in (host, f"https://{host}", f"https://index.{host}/v1/"):
        if isinstance(stored_logins.get(name), dict) and stored_logins[name].get("auth"):
            return f"Basic {stored_logins[name]['auth']}"
    helper = helpers.get(host) or config.get("credsStore")
    return _from_helper(str(helper), host) if helper else ""


def _from_helper(helper: str, host: str) -> str:
    answer = run((f"docker-credential-{helper}", "get"), 20.0, stdin=host.encode())
    if answer.code:
        return ""  # it has none for this host
    try:
        credentials = dict(read_json(answer.out))
    except (ValueError, TypeError):
        raise CouldNotLook(
            f"docker-credential-{helper} answered with something other than JSON."
        ) from None
    text = f"{credentials.get('Username', '')}:{credentials.get('Secret', '')}"
    return "Basic " + base64.b64encode(text.encode()).decode()
