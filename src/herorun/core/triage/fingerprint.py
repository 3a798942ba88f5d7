"""The fingerprint of a failure: the same for every rank, node, attempt and time."""

from functools import lru_cache

from herorun.core.canonical_json import sha256
from herorun.core.lazy_regex import lazy_regex

_MAX_LENGTH = 300
_ONE_DIGIT = str.maketrans("023456789", "111111111")
# A number like 0x1f, also once the folders between are left out.
_MAYBE_HEX = lazy_regex(r"0(?:[x\\/]|[a-z]:)")
_RULES = (
    (lazy_regex(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s'\"<>]{1,500}"), "<url>"),
    # folders
    (lazy_regex(r"(?:[a-z]:)?(?:[\\/][^\s\\/:'\",()\[\]<>]{1,200})*[\\/](?=[^\s\\/])"), ""),
    (lazy_regex(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (lazy_regex(r"\b0x[0-9a-f]+\b"), "<id>"),
    (lazy_regex(r"\b(?=[a-f]{0,40}\d)[0-9a-f]{8,64}\b"), "<id>"),
    (
        lazy_regex(
            r"\b(node|host|hostname|worker|pod|machine)([ =:]{1,3})(?!id\b)[\w.-]*\d[\w.-]*"
        ),
        r"\1\2#",
    ),
    (lazy_regex(r"[+-]?\d[\d_.,:]*(?:e[+-]?\d+)?"), "#"),
    (lazy_regex(r"#\s?(?:[kmgt]i?b?|bytes|b|ms|s|sec|seconds|minutes|hours)\b"), "#"),
    (lazy_regex(r"#(?:[\s,.:;x/|-]{0,3}#)+"), "#"),
    (lazy_regex(r"\s+"), " "),
)


def fingerprint(kind: str, exception: str, where: str, message: str) -> str:
    """Sixteen hex digits: signature, exception type, call site and the message without what
    varies.
    """
    parts = "\n".join((kind, exception.rpartition(".")[2], where, steady(message)))
    return sha256(parts.encode("utf-8", "replace")).hexdigest()[:16]


def steady(message: str) -> str:
    """The message without times, ids, addresses, folders, sizes, steps and ranks."""
    text = message[:_MAX_LENGTH].lower()
    # A log full of errors has few lines that differ in more than digits, and no other rule tells
    # digits apart.
    return _steady(text if _MAYBE_HEX.search(text) else text.translate(_ONE_DIGIT))


@lru_cache(maxsize=1024)
def _steady(text: str) -> str:
    for rule, instead in _RULES:
        text = rule.sub(instead, text)
    return text.strip()
