"""One line of a log, made readable: no terminal escapes, no redrawn progress, no launcher's
prefix, no quotation mark of a thread, no envelope of a log collector.
"""

from collections.abc import Iterator

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_ESCAPE = lazy_regex(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)|[@-Z\\^_])"
)
_CONTROL = lazy_regex(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
_TIME = lazy_regex(
    r"\[?(?:(?:\d\d/\d\d/\d{4}|(?:\d{4}[-/])?\d\d[-/]\d\d)[T "
    r"])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?:?(?:[ \t]|$)"
    r"|\[\d{4}-\d\d-\d\d[^\]\n]{0,40}\]:?[ \t]?"
)
_LEVEL = r"(?:ERROR|CRITICAL|FATAL|WARNING|WARN|INFO|DEBUG)"
_LABEL = lazy_regex(
    # [rank3]: [default0]: [1,0]<stderr>:
    r"\[[^\]\[\n]{1,80}(?:\([^)\n]{0,40}\))?\]:?(?:<std(?:err|out)>:?)?[ \t]?"
    r"|\([^()\n]{0,60}(?:pid|rank|ip)[ =:][^()\n]{1,80}\)[ \t]?"  # Ray's (Actor pid=1, ip=10.0.0.1)
    r"|(?:stderr|stdout)(?::| [FP])[ \t]?"
    r"|task=\S{1,200} \|[ \t]?"  # Iris
    rf"|{_LEVEL}(?::[\w.]{{1,80}}:|:|[ \t])[ \t]{{0,3}}"
    rf"|[A-Za-z_][\w.]{{0,79}}: \[{_LEVEL}\] ?"  # torch._dynamo.convert_frame: [WARNING]
    # Python's logging, with its usual format, and loguru's: - trainer - ERROR - , | ERROR | a:b:1 -
    rf"|- [\w.<>]{{1,80}} - {_LEVEL} ?- |- {_LEVEL} ?- (?:[\w.]{{1,80}} -[ \t]{{1,3}})?"
    rf"|\| {_LEVEL} {{0,4}}\| [\w.:<>]{{1,120}} - "
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,6} {1,7}\d{1,9} [\w./-]{1,80}:\d{1,6}\] ?"  # glog
    # syslog: Aug 17 18:42:18 node7 train[8052]:
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,80} [\w.-]{1,40}\[\d{1,9}\]: ?"
    r"|\d{1,5}:[ \t]?"  # srun --label
    r"|>[ \t]|>>[ \t]"  # quoted, as in a mail or a thread; >>> is Python's prompt
    # docker compose: trainer-1  |
    r"|(?![\w.-]*(?:error|exception|warning))"
    r"[a-z][\w.-]{0,62}(?:[-_]\d{1,3} {1,40}| {2,40})\|(?:[ \t]|$)"
    r"|(?![\w.-]*(?:error|exception|warning))[a-z][\w-]{0,60}\d[\w.-]{0,60}: "  # pdsh: node17:
)

MAX_ENVELOPES = 2  # envelopes, one in another


def without_escapes(text: str) -> str:
    """What a terminal would show, without its colours and titles.

    >>> without_escapes("\\x1b[32mstep 7\\x1b[0m")
    'step 7'
    """
    return _ESCAPE.sub("", text)


@dataclass(frozen=True)
class LogLine:
    """What was printed, and by whom: `stream` distinguishes the ranks of one log."""

    text: str  # the whole, readable
    content: str  # without times and labels, indentation kept
    stream: str


def is_text(sample: bytes) -> bool:
    """Whether bytes from a file can be a log's: a tenth that is no UTF-8 is no log, whatever stands
    between it.

    >>> is_text("loss 2.5 ✓".encode()), is_text(bytes(range(256)))
    (True, False)
    """
    return sample.decode("utf-8", "replace").count("\ufffd") <= len(sample) / 10


def readable(raw: bytes) -> Iterator[LogLine]:
    """The lines that a terminal would have shown in turn where a carriage return redraws one, or
    where a collector wrapped several.
    """
    yield from _readable(raw.decode("utf-8", "replace"), "", MAX_ENVELOPES)


def _readable(text: str, writer: str, depth: int) -> Iterator[LogLine]:
    from herorun.core.triage.wrappers import unwrap

    for part in _ESCAPE.sub("", text).split("\r"):
        if not part.strip():
            continue
        line = _format_line(_CONTROL.sub("", part), writer)
        envelope = unwrap(line.content) if depth and line.content.startswith("{") else None
        if envelope is None:
            yield line
            continue
        message, inner = envelope
        for each in message.split("\n"):
            yield from _readable(each, f"{line.stream} {inner}".strip(), depth - 1)


def _format_line(text: str, writer: str) -> LogLine:
    at, labels = 0, [writer] if writer else []
    for _ in range(8):
        match = _TIME.match(text, at)
        if not match:
            match = _LABEL.match(text, at)
            if not match:
                break
            labels.append(match[0].strip())
        at = match.end()
    return LogLine(text.strip(), text[at:].rstrip(), " ".join(labels)[:200])
