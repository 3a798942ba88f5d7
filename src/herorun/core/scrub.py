"""Secrets out, the rest readable. Whatever is recorded, posted or printed passes here first."""

import re
from collections.abc import Mapping
from typing import Any

MASK = "[scrubbed]"
_NAME = (
    r"(?:(?:api|access|account|private)[_-]?key|secret|token|passw(?:or)?d|passphrase|credential|auth"
    r"|x-(?:amz|goog)-signature)"
)
# Weaker words, which name a secret only where they end a name: not `key_size`, `monkey`, `passes`.
_LAST = r"(?:(?<![A-Za-z])(?:key|pass|pwd)|(?-i:(?<=[a-z])(?:Key|Pass|Pwd)))(?:[_-]?\d++)?(?![\w-]|\.\w)"
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
    re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
)
# Possessive and anchored at the begin of a word: a log line of a megabyte takes milliseconds.
_USERINFO = re.compile(r"(?P<head>(?<![a-z0-9+.-])[a-z0-9+.-]++://)[^/\s'\"?#]+@", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?P<head>(?<![\w.-])(?=[\w.-]*?(?:{_NAME}|{_LAST}))[\w.-]++[\"']?\]?(?:\s*[=:]\s*[\"']?|\s+[\"']?(?!-)))"
    r"(?P<value>[^\s\"',;&}\]]+)",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"(?P<head>\b(?:bearer|basic)\s+)(?=[a-z]*[^a-z\s])[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE
)
# The whole rest is the secret, whatever it looks like.
_AFTER = re.compile(
    r"(?P<head>\bauthorization[\"']?\s*+[:=]\s*+[\"']?(?:(?:basic|bearer|digest|negotiate|token)\s++)?"
    r"|\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    r"|\bdiscord(?:app)?\.com/api/(?:v\d+/)?webhooks/"
    r"|\bwebhook\.office\.com/"
    r"|\bapi\.telegram\.org/bot"
    r"|[?&;](?:sig|signature)="
    r"|\blogin\s++\S++\s++password\s++"
    r"|\bmachine\s++\S++\s++password\s++)[^\s\"'&,;)>\]]++",
    re.IGNORECASE,
)
# What a value cannot be if it is a secret: a small number, a word of YAML, a variable's name, a digest, what is masked.
_HARMLESS = re.compile(
    r"sha256:[0-9a-f]{64}|true|false|null|none|\d{1,6}(?:\.\d+)?|\[scrubbed\]?|\$\{?\w+|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_LAST_WORD = re.compile(_LAST, re.IGNORECASE)
# Whose key is a secret, however short it is; any other key is one if it looks like it, and is no digest with a prefix.
_SECRET_KEY = re.compile(
    r"(?:wandb|comet|neptune|mlflow|tracker|hf|hub|openai|anthropic|aws|s3|gcp|gcs|google|azure|ssh|auth|service"
    r"|license|sign(?:ing)?|encrypt(?:ion)?|master|deploy|storage|client)[_.-]?key",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+=]{16,}")
_PATH = re.compile(r"[~.]{0,2}/\S*|\w+://\S*")
# A language model's tokens are no secret: neither the tools and the special ones, nor a number of them.
_INNOCENT_NAME = re.compile(
    r"tokeni[sz]\w*|(?<![a-z])(?:bos|eos|pad|unk|sep|cls|mask)[_-]token|authors?(?!i[sz])", re.IGNORECASE
)
_COUNTING_NAME = re.compile(r"tokens|token[_-](?:ids?|counts?|budget|limit|length)", re.IGNORECASE)
_COUNT = re.compile(r"[+-]?[\d_]+(?:\.\d+)?(?:e[+-]?\d+)?[kmgtb]?", re.IGNORECASE)


def scrub(text: str) -> str:
    """The text with everything that looks like a secret masked. Digests, SHAs and paths stay."""
    text = _USERINFO.sub(lambda m: f"{m['head']}{MASK}@", text)
    for rule in _RULES:
        text = rule.sub(MASK, text)
    text = _AFTER.sub(lambda m: m["head"] + MASK, text)
    text = _BEARER.sub(lambda m: m["head"] + MASK, text)
    return _ASSIGNED.sub(_mask_value, text)


def has_known_shape(text: str) -> bool:
    """Whether something in it is a secret by its own shape, whatever it is called."""
    return any(rule.search(text) for rule in _RULES)


def _mask_value(found: re.Match[str]) -> str:
    head, value = found["head"], found["value"]
    is_flag = head.lstrip("\"'").startswith("-")
    is_assignment = is_flag or (len(value) > 3 and any(sign in head for sign in "=:"))
    return head + MASK if is_assignment and _is_secret(head, value) else found[0]


def _is_secret(name: str, value: str) -> bool:
    """`--token abc` and `TOKEN=abc` hold one; `tokens_per_second=9` and `tokenizer=llama` do not."""
    if _HARMLESS.fullmatch(value):
        return False
    if _names_strongly(name):
        return not (_COUNTING_NAME.search(name) and _COUNT.fullmatch(value))
    found = _LAST_WORD.search(name)
    if not found or _PATH.fullmatch(value):
        return False
    return "key" not in found[0].lower() or bool(_SECRET_KEY.search(name) or _RANDOM.fullmatch(value))


def _names_strongly(name: str) -> bool:
    return bool(_SECRET_NAME.search(_INNOCENT_NAME.sub("", name)))


def scrub_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command line with the values of secret-looking flags masked, `--token value` included."""
    out: list[str] = []
    flag = ""
    for part in argv:
        hide = bool(flag) and not part.startswith("-") and _is_secret(flag, part)
        out.append(MASK if hide else scrub(part))
        flag = part if part.startswith("-") and "=" not in part else ""
    return tuple(out)


def scrub_tree(value: Any, name: str = "") -> Any:
    """The same for every text in a JSON-able value; texts under secret-looking keys are masked whole."""
    match value:
        case str():
            return MASK if name and _is_secret(name, value) else scrub(value)
        case Mapping():
            return {key: scrub_tree(item, _secret_key(str(key))) for key, item in value.items()}
        case list() | tuple():
            return [scrub_tree(item, name) for item in value]
    return value


def _secret_key(key: str) -> str:
    """The key, if it names a secret. The contract's own `secrets` are names of variables, an action's `key` is public."""
    named = _names_strongly(key) or _LAST_WORD.search(key)
    return key if named and key.lower() not in ("secrets", "key") else ""
