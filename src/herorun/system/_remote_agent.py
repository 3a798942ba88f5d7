"""Answers queries on a remote machine: each in its own process, all by one deadline.

Sent along with the queries and run by the machine's Python, so it uses only the standard library,
from Python 3.8 on.
"""

from __future__ import annotations

import base64
import json
import os
import select
import sys
import time
from typing import Any


def answer_orders(order: dict[str, Any]) -> None:
    """Print a list of answers, one for each query. A query with data comes alone, and reads the
    data from stdin.

    A query with a streamed answer also comes alone: each part is printed as a line when it is
    ready.
    """
    asks = order["asks"]
    if order["streams"]:
        stream(asks[0])
        return
    answers = [answer_ask(asks[0])] if order["alone"] else in_time(asks, order["within"])
    sys.stdout.write(json.dumps(answers))
    sys.stdout.flush()


def answer_ask(ask: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"told": _call(ask)}
    except Exception as error:
        return _failure(error)


def stream(ask: dict[str, Any]) -> None:
    """Print each part on a line; a failure is the last line."""
    try:
        for part in _call(ask):
            _print_answer({"told": part})
    except BrokenPipeError:  # the reader is gone
        sys.exit(1)
    except Exception as error:
        _print_answer(_failure(error))


def _call(ask: dict[str, Any]) -> Any:
    return getattr(sys.modules[ask["module"]], ask["question"])(**ask["given"])


def _failure(error: Exception) -> dict[str, Any]:
    if isinstance(error, OSError):
        name = error.filename if isinstance(error.filename, str) else None
        return {"errno": error.errno, "why": error.strerror or str(error), "path": name}
    return {"errno": None, "why": f"{type(error).__name__}: {error}", "path": None}


def _print_answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def in_time(asks: list[dict[str, Any]], within: float) -> list[dict[str, Any]]:
    """The answers within the time limit. A query that hangs, for example on a hanging mount, is
    abandoned and does not delay others.
    """
    until = time.monotonic() + within
    running = {_start_watched(ask): at for at, ask in enumerate(asks)}
    texts = [b""] * len(asks)
    open_numbers = set(range(len(asks)))
    while running:
        ready = select.select(list(running), [], [], max(0.0, until - time.monotonic()))[0]
        if not ready:
            break
        for pipe in ready:
            data = os.read(pipe, 1 << 20)
            texts[running[pipe]] += data
            if not data:
                open_numbers.discard(running.pop(pipe))
    return [_read_answers(texts[at], at in open_numbers) for at in range(len(asks))]


def _read_answers(text: bytes, timed_out: bool) -> dict[str, Any]:
    if timed_out:
        return {"late": True}
    try:
        document: dict[str, Any] = json.loads(text)
        return document
    except ValueError:
        return {"errno": None, "why": "the question ended without an answer", "path": None}


def _start_watched(ask: dict[str, Any]) -> int:
    pipe, mouth = os.pipe()
    if os.fork():
        os.close(mouth)
        return pipe
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):  # what hangs must not keep the connection open
            os.dup2(nothing, standard)
        with os.fdopen(mouth, "wb") as file:
            file.write(json.dumps(answer_ask(ask)).encode("ascii"))
    finally:
        os._exit(0)


def encode_bytes(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def decode_bytes(text: str) -> bytes:
    return base64.b64decode(text)
