"""Compares the environment of a job with the admitted one, variable by variable.

Standard library only, and light: this also runs inside the job, on every rank, before the training
starts.
"""

import hashlib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from .items import DIGEST_PREFIX, FAIL, PASS, UNKNOWN, Item, digest_secret, shorten_value

ROUNDS = 20_000  # of PBKDF2, some 10 ms: guessing a short secret costs that much each time
_PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH")  # lists that a launcher may extend
MAX_VARIABLES = 5  # variables that a message names


def is_any(name: str, globs: Iterable[str]) -> bool:
    return any(_matches(name, glob) for glob in globs)


def _matches(name: str, glob: str) -> bool:
    """Like `fnmatchcase`, but without compiling a pattern for globs that are a name or a prefix."""
    head = glob.removesuffix("*")
    if any(sign in head for sign in "*?["):
        return fnmatchcase(name, glob)
    return name == head if head == glob else name.startswith(head)


def digest_with_salt(value: str, salt: str) -> str:
    """The salted digest of a secret: it only shows whether another value is the same."""
    derived_key = hashlib.pbkdf2_hmac(
        "sha256", value.encode("utf-8", "surrogateescape"), salt.encode(), ROUNDS
    )
    return f"{salt}:{derived_key.hex()}"


def is_salted(value: str, salted_value: str) -> bool:
    return digest_with_salt(value, salted_value.partition(":")[0]) == salted_value


def compare_environment(
    admitted_env: Mapping[str, Any], job_env: Mapping[str, str] | None, direct: bool
) -> Item:
    """Compare the variables: all admitted ones must have the admitted value. `direct`: the
    scheduler started this process itself.
    """
    if job_env is None:
        return Item("environment", UNKNOWN, "it could not be read")
    values = admitted_env.get("values") or {}
    wrong = [
        message
        for name, value in sorted(values.items())
        if (message := _difference(name, value, job_env.get(name)))
    ]
    secrets = admitted_env.get("secrets") or {}
    wrong += [f"{name}, a secret, is not set" for name in sorted(secrets) if name not in job_env]
    more = _more(admitted_env, job_env)
    if direct:
        wrong += [
            f"{name} is set, and is not in the plan"
            for name in more
            if _refuses(name, admitted_env)
        ]
    if wrong:
        return Item("environment", FAIL, _few(wrong))
    notes = [f"{name} is set, and is not in the plan" for name in more]
    notes += [
        f"{name}, a secret, has another value than when it was admitted"
        for name, salted_secret in sorted(secrets.items())
        if salted_secret and not is_salted(job_env[name], str(salted_secret))
    ]
    if notes:
        return Item("environment", UNKNOWN, _few(notes))
    count = f"{len(values)} variable{'' if len(values) == 1 else 's'}"
    return Item("environment", PASS, f"{count} as admitted, and no other that is read")


def _difference(name: str, admitted_value: Any, value: str | None) -> str:
    if value is None:
        return f"{name} is not set, but {shorten_value(admitted_value)} was admitted"
    is_sealed = str(admitted_value).startswith(DIGEST_PREFIX)
    if (digest_secret(value) == admitted_value) if is_sealed else value == admitted_value:
        return ""
    if name in _PATHS and not is_sealed and _keeps_folders(value, str(admitted_value)):
        return ""
    if is_sealed:
        return f"{name} is not the secret that was admitted"
    return f"{name} is {shorten_value(value)}, but {shorten_value(admitted_value)} was admitted"


def _keeps_folders(value: str, admitted_value: str) -> bool:
    """Whether the admitted folders are still searched, in their order: Ray and others add their
    own.
    """
    folders = iter(value.split(":"))
    return all(part in folders for part in admitted_value.split(":"))


def _more(admitted_env: Mapping[str, Any], job_env: Mapping[str, str]) -> list[str]:
    """Variables that trainers or this code read and that are not admitted, except those that the
    scheduler sets.
    """
    values, secrets = admitted_env.get("values") or {}, admitted_env.get("secrets") or {}
    watched_globs, ignored_globs = (
        admitted_env.get("watched") or (),
        admitted_env.get("ignored") or (),
    )
    flags = admitted_env.get("flags") or ()
    return sorted(
        name
        for name in job_env
        if name not in values and name not in secrets
        if name in flags or (is_any(name, watched_globs) and not is_any(name, ignored_globs))
    )


def _refuses(name: str, admitted_env: Mapping[str, Any]) -> bool:
    """Whether an additional variable fails: if the code itself names it, or if herorun sets the
    complete environment.
    """
    if name in (admitted_env.get("flags") or ()):
        return True
    steers = next(
        (steers for glob, steers in admitted_env.get("classes") or () if fnmatchcase(name, glob)),
        True,
    )
    return bool(admitted_env.get("whole") and steers)


def _few(messages: list[str]) -> str:
    more = f"; and {len(messages) - MAX_VARIABLES} more" if len(messages) > MAX_VARIABLES else ""
    return "; ".join(messages[:MAX_VARIABLES]) + more
