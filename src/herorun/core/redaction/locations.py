"""Secrets by their place: after a header, in the user part of a URL, behind a webhook's address."""

import re

from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.key_names import has_lookalikes

_SLASH = r"(?:\\*+/|\\++u002[fF])"  # JSON may write it with a backslash, or by its number
_HOOKS = "|".join(
    (
        rf"hooks\.slack(?:-gov)?\.com{_SLASH}(?:services|workflows|triggers){_SLASH}",
        rf"discord(?:app)?\.com{_SLASH}api{_SLASH}(?:v\d+{_SLASH})?webhooks{_SLASH}",
        rf"webhook\.office(?:365)?\.com{_SLASH}",
        rf"api\.telegram\.org{_SLASH}(?:file{_SLASH})?bot",
        rf"chat\.googleapis\.com{_SLASH}v1{_SLASH}spaces{_SLASH}[^\s\"'?]++\?",
        rf"hooks\.zapier\.com{_SLASH}hooks{_SLASH}catch{_SLASH}",
        rf"events\.pagerduty\.com{_SLASH}integration{_SLASH}",
        rf"maker\.ifttt\.com{_SLASH}trigger{_SLASH}",
    )
)
# The addresses of apprise: all that follows the scheme are tokens, but for what reads like a place.
_SPEAKS = (
    r"slack|discord|tgram|msteams|workflows?|mailtos?|ntfys?|pover|pbul|matrixs?|mmosts?|rockets?|gchat|opsgenie"
    r"|pagerduty|sendgrid|twilio|signals?|wxteams|webex|ifttt|pushy|gotifys?|zulip|spike|splunk|victorops|revolt"
)


def _with_and_without_s(scheme: str) -> tuple[str, ...]:
    return (scheme.removesuffix("s?"), scheme.removesuffix("?"))


_BLANK = r"(?:\s|\\++[nrt])+(?!\s|\\++[nrt])"  # all of it: nothing is given back
_REST = r"(?:[^\s\"'&,;)>\]\\]++|\\++/)+"

# The whole rest is the secret, whatever it looks like.
_AFTER = lazy_regex(
    rf"(?P<head>\bauthorization(?:\\*+[\"']?\s*+[:=]|\\*+[\"']\s*+,)\s*+\\*+[\"']?(?:(?:basic|bearer|digest|negotiate|token|apikey)\s++)?"
    rf"|\b(?:{_HOOKS})"
    rf"|(?<![\w+.-])(?:{_SPEAKS}):{_SLASH}{{1,2}}"
    r"|[?&;](?:sig|signature)="
    r"|\bsignature=(?=[0-9a-f]{32})"
    rf"|(?:\b|(?<=\\[nrt]))login{_BLANK}[^\s\\]++{_BLANK}(?:account{_BLANK}[^\s\\]++{_BLANK})?password{_BLANK}\\*+\"?"
    rf"|(?:\b|(?<=\\[nrt]))machine{_BLANK}[^\s\\]++{_BLANK}password{_BLANK}\\*+\"?"
    r"|\bsshpass\s++-p\s*+[\"']?"
    r"|\b(?:docker|podman|nerdctl|oras|crane|helm|skopeo)\s(?:[\w "
    r"-]{0,40}\s)?login\b[^\n|;]{0,200}?\s-p[\s=]*+[\"']?"
    r"|\b(?:curl|wget)\b[^\n|;]{0,400}?\s(?:-u|--user|--proxy-user)[\s=]*+[\"']?[^\s:\"']++:"
    rf")(?P<value>(?<=\")[^\"\n\\]++(?=\\*+\")|{_REST})",
    re.IGNORECASE,
)
_AFTER_HINTS = (
    *("authorization", "hooks.", "discord", "webhook.office", "api.telegram", "chat.googleapis"),
    *("events.pagerduty", "maker.ifttt", "sig=", "signature=", "password", "sshpass"),
    *("docker", "podman", "nerdctl", "oras", "crane", "helm", "skopeo", "curl", "wget"),
    *(f"{each}:" for scheme in _SPEAKS.split("|") for each in _with_and_without_s(scheme)),
)
_COOKIE = lazy_regex(
    r"(?P<head>\b(?:set-)?cookie\\*+[\"']?\s*+:\s*+\\*+[\"']?)(?P<value>[^\r\n\"'\\=]{0,200}=[^\r\n\"'\\]*+)",
    re.IGNORECASE,
)
_ELEMENT = lazy_regex(
    r"(?P<head>(?:<|&lt;)(?P<name>[\w.:-]*(?:password|passwd|secret|token|api-?_?key)[\w.:-]*)(?:>|&gt;))(?P<value>[^<&\n]++)(?=(?:<|&lt;)/(?P=name)(?:>|&gt;))",
    re.IGNORECASE,
)
# In an address of Azure's stores the container stands where others have a user.
_CONTAINER = r"(?:abfss?|wasbs?)://[a-z0-9$-]{3,63}@[a-z0-9]{3,24}\.(?:dfs|blob)\.core\."
# Possessive and anchored at the begin of a word: a log line of a megabyte takes milliseconds.
_USERINFO = lazy_regex(
    rf"(?P<head>(?<![a-z0-9+.-])(?!{_CONTAINER})[a-z0-9+.-]++:{_SLASH}{{1,2}})(?P<value>[^/\s'\"?#\\]+)(?=@)",
    re.IGNORECASE,
)
# A password may hold what it should not: `/`, `?`, `#`. A port is none.
_LOOSE_USERINFO = lazy_regex(
    rf"(?P<head>(?<![a-z0-9+.-])[a-z0-9+.-]++:{_SLASH}{{1,2}})(?P<value>[^/\s'\"?#:@\\]{{0,200}}+:(?!\d*+(?:/|$))[^\s'\"@]{{1,200}}+)(?=@)",
    re.IGNORECASE,
)
# Without a scheme, as in `http_proxy=ada:...@proxy:3128`; an image is named by a tag and a digest.
_PLAIN_USERINFO = lazy_regex(
    r"(?P<head>(?<![^\s\"'=,;(\[/])[A-Za-z0-9_.+-]{1,64}+:)(?P<value>(?=[^\s@]*\d)(?=[^\s@]*[A-Za-z])[^\s/@:'\"]{8,200}+)"
    r"(?=@(?!sha\d)[\w-]+(?:\.[\w-]+)*(?:\.[A-Za-z]{2,}|:\d{2,5}))"
)
# A key of AWS after its id, as people paste the two: 40 characters of base64, where a git SHA has
# no capitals.
_AFTER_ITS_ID = lazy_regex(
    r"(?P<head>(?:\bA[KS]IA[A-Z0-9]{16}|\[scrubbed\])(?:[^A-Za-z0-9+/]{1,6}| / "
    r")(?:secret[^A-Za-z0-9+/]{1,4})?)"
    r"(?P<value>(?=[a-z0-9+/]*[A-Z])[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])"
)
_BEARER = lazy_regex(
    r"(?P<head>\b(?:bearer|basic)\s+)(?P<value>(?=[a-z]*[^a-z\s])[A-Za-z0-9._~+/=-]{8,})",
    re.IGNORECASE,
)
_KEYS_OF = ("api", "access", "secret", "account", "license", "licence")
# What people and libraries say about a key, with the key in it.
_KEY_PHRASE = lazy_regex(
    r"(?P<head>\b(?:wandb\s++login\b|(?:api|access|secret|account|licen[cs]e)[ "
    r"_-]keys?\b)(?:(?!\[scrubbed)[^\n]){0,120}?[\s:=\"'`(])"
    r"(?P<value>(?<![^\s:=\"'`(])(?=[A-Za-z_+*/=-]*\d)[A-Za-z0-9_+*=-]{20,}+)(?![\w:/]|\.\w)",
    re.IGNORECASE,
)
# Each needs a `:` before an `@`: most texts, as `@dri` and `git@host:path`, need none compiled.
_USERINFOS = (_USERINFO, _LOOSE_USERINFO, _PLAIN_USERINFO)
# (what must stand in the lower-cased text for the pattern to be tried at all, the pattern)
_PLACES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (_AFTER_HINTS, _AFTER),
    (("akia", "asia", "[scrubbed]"), _AFTER_ITS_ID),
    (("cookie",), _COOKIE),
    (("</", "&lt;/"), _ELEMENT),
    (("bearer", "basic"), _BEARER),
    (("wandb", *(f"{of}{by}key" for of in _KEYS_OF for by in " _-")), _KEY_PHRASE),
)


def mask_places(text: str, mask: str) -> str:
    small, is_tried = text.lower(), has_lookalikes(text)
    if ":" in text.rpartition("@")[0]:
        for place in _USERINFOS:
            text = place.sub(lambda match: _mask_value(match, mask), text)
    for hints, place in _PLACES:
        if is_tried or any(map(small.__contains__, hints)):
            text = place.sub(lambda match: _mask_value(match, mask), text)
    return text


def _mask_value(match: re.Match[str], mask: str) -> str:
    """Masked once: the mask's own end is no part of what may stand in a value."""
    return match[0] if mask.startswith(match["value"]) else f"{match['head']}{mask}"


def secrets_by_location(text: str) -> tuple[str, ...]:
    """The values that a place of the text tells as secrets."""
    places = (*_USERINFOS, *(place for _, place in _PLACES))
    return tuple(match["value"] for place in places for match in place.finditer(text))
