"""Log lines that a collector wrapped as JSON: Docker, Kubernetes, cloud logging, journald, and
loggers of structured lines.

Only an object that looks like an envelope is opened: a message under a usual key, and either
nothing else or a key that gives time, level or origin. A sample of a dataset that is printed has
none of these, and what it mentions did not happen: it is left out.
Sources of the keys: Docker's json-file driver (log, stream, time), journald's export (MESSAGE,
PRIORITY, _PID), Google Cloud Logging (textPayload, jsonPayload, severity), CloudWatch (@message,
@timestamp), pino, zap, structlog and python-json-logger (msg, message, event, level, ts).
"""

import json
from collections.abc import Mapping
from typing import Any

MESSAGES = ("log", "message", "msg", "event", "textPayload", "MESSAGE", "@message")
NESTED_KEYS = ("jsonPayload", "fields", "record")
ENVELOPE = frozenset({
    "time", "timestamp", "ts", "@timestamp", "asctime", "level", "levelname", "lvl", "severity",
    "PRIORITY", "stream", "logger", "logger_name", "logName", "insertId", "kubernetes", "_PID",
    "_HOSTNAME", "pid", "hostname", "host", "logtag",
})  # fmt: skip
SAMPLE = frozenset({
    "text", "instruction", "prompt", "completion", "response", "question", "answer", "role",
    "messages", "conversations",
})  # fmt: skip
WRITERS = ("rank", "pod", "pod_name", "container", "container_name", "hostname", "host", "_PID")


def unwrap(text: str) -> tuple[str, str] | None:
    """The message of a wrapped line, and who wrote it: no message of a sample of a dataset; None
    where the line is neither.
    """
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    message = _logged_message(document) if isinstance(document, dict) else None
    return None if message is None else (message, _writer(document))


def _logged_message(document: Mapping[str, Any]) -> str | None:
    if ENVELOPE.isdisjoint(document):
        if not SAMPLE.isdisjoint(document):
            return ""
        if len(document) > 1:
            return None
    for key in MESSAGES:
        if isinstance(document.get(key), str):
            return str(document[key])
    for key in NESTED_KEYS:
        inner = document.get(key)
        if isinstance(inner, dict):
            for each in MESSAGES:
                if isinstance(inner.get(each), str):
                    return str(inner[each])
    return None


def _writer(document: Mapping[str, Any]) -> str:
    """So that the tracebacks of two writers are kept apart."""
    origin = document.get("kubernetes")
    places = (document, origin) if isinstance(origin, dict) else (document,)
    values = (place.get(key) for place in places for key in WRITERS)
    return " ".join(str(each)[:60] for each in values if isinstance(each, (str, int)))
