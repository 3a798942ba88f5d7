"""The ping of a dead-man's switch: a GET of a URL that only its owner knows.

The service at that URL (Healthchecks, Cronitor, Uptime Kuma and the like) expects regular pings,
and raises an alarm when none comes. So it reports what no babysitter can: that the whole machine
has failed. The URL is a secret: messages name only its variable.
"""

import os
from urllib.parse import urlsplit

from herorun.core.errors import CouldNotLook

ANSWER = 5.0  # seconds to connect, and again to answer
MAX_SECONDS = 15.0  # seconds in all: a slow name server or answer must not delay the next tick


def ping_problem(variable: str) -> str:
    """Why the variable's URL cannot be pinged; "" if it can. Nothing is sent."""
    url = os.environ.get(variable, "")
    if not url:
        return f"the variable {variable} is not set, or is empty"
    try:
        parts = urlsplit(url)
        is_web_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web_url = False
    return "" if is_web_url else f"{variable} holds no http or https URL"


def ping(variable: str) -> str:
    """Ping the URL once; returns the error, or an empty string."""
    from herorun.system.timeout import within

    if problem := ping_problem(variable):
        return problem
    try:
        return within(MAX_SECONDS, lambda: _get(variable, os.environ[variable]))
    except CouldNotLook:
        return f"{variable} did not answer in time"


def _get(variable: str, url: str) -> str:
    import requests

    try:
        # streamed and closed: only the status is needed, and the body may be endless
        with requests.get(url, timeout=ANSWER, stream=True) as answer:
            status = answer.status_code
    except requests.Timeout:
        return f"{variable} did not answer in time"
    except (requests.RequestException, ValueError):
        return f"{variable} could not be reached"
    return "" if 200 <= status < 300 else f"{variable} answered {status}"
