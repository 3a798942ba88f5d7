"""Secrets out, the rest readable. Whatever is recorded, posted or printed passes here first."""

import re
from collections.abc import Mapping
from typing import Any

MASK = "[scrubbed]"
_NAME = (
    r"(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase|credential|auth|private[_-]?key)"
)
_RULES = (
    # known shapes
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    re.compile(r"\bhf_[A-Za-z0-9]{20,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{35}"),
    re.compile(r"\bya29\.[A-Za-z0-9_-]{20,}"),
    re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\bsk-[A-Za-z0-9_-]{20,}"),
    re.compile(r"\bwandb_v\d_[A-Za-z0-9_]{20,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
)
_USERINFO = re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]*://)[^/\s@'\"]+@", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?P<head>(?<![\w.-])[\w.-]*{_NAME}[\w.-]*[\"']?(?:\s*[=:]\s*|\s+)[\"']?)(?P<value>[^\s\"',;&}}\]]{{4,}})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<head>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_HARMLESS = re.compile(r"(?:true|false|null|none|\d{1,6}(?:\.\d+)?|\[scrubbed\]?)", re.IGNORECASE)
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_COUNTS = re.compile(r"tokens?(?:_|/|-|\b)", re.IGNORECASE)  # a language model's tokens are no secret


def scrub(text: str) -> str:
    """The text with everything that looks like a secret masked. Digests, SHAs and paths stay."""
    text = _USERINFO.sub(lambda m: f"{m['head']}{MASK}@", text)
    for rule in _RULES:
        text = rule.sub(MASK, text)
    text = _BEARER.sub(lambda m: m["head"] + MASK, text)
    return _ASSIGNED.sub(_mask_value, text)


def _mask_value(found: re.Match[str]) -> str:
    value = found["value"]
    return (
        found[0] if _HARMLESS.fullmatch(value) or not _is_assignment(found["head"]) else found["head"] + MASK
    )


def _is_assignment(head: str) -> bool:
    """`--token abc` and `TOKEN=abc` name a secret; `the token was` and `tokens_per_second=9` do not."""
    if any(sign in head for sign in "=:"):
        return not re.search(r"tokens(?:_|/|\s|=|:)", head, re.IGNORECASE)
    return head.lstrip("\"'").startswith("-")


def scrub_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command line with the values of secret-looking flags masked, `--token value` included."""
    out: list[str] = []
    hide = False
    for part in argv:
        out.append(MASK if hide else scrub(part))
        name = part.lstrip("-")
        hide = (
            part.startswith("-")
            and "=" not in part
            and bool(_SECRET_NAME.search(name))
            and not _COUNTS.match(name)
        )
    return tuple(out)


def scrub_tree(value: Any) -> Any:
    """The same for every text in a JSON-able value; values under secret-looking keys are masked whole."""
    match value:
        case str():
            return scrub(value)
        case Mapping():
            return {
                key: MASK if isinstance(item, str) and _names_secret(str(key)) else scrub_tree(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [scrub_tree(item) for item in value]
    return value


def _names_secret(key: str) -> bool:
    return (
        bool(_SECRET_NAME.search(key))
        and not _COUNTS.match(key.rsplit("_", 1)[-1] + "_")
        and key.lower() not in ("secrets", "author")
    )
