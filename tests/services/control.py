"""What a test tells its servers: which faults to show. What they tell it: the requests that they
saw.

Shared by the servers, which run in an environment of their own: the standard library alone.
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

ROAD = "/_control/"


@dataclass
class Fault:
    """What to answer instead, to requests whose method and unquoted URL hold these words."""

    url: str = ""
    method: str = ""
    sleep: float = 0.0  # seconds, before anything else
    status: int = 0  # 0: only the sleep
    body: str = ""
    after: bool = False  # do what was asked first, and lose the answer
    times: int = -1  # how often; -1: until it is taken back


@dataclass
class Control:
    """Answers everything under `/_control/`; `acts` are the server's own words there."""

    acts: dict[str, Callable[[dict[str, Any]], Any]]
    requests: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, path: str, body: bytes) -> bytes:
        word, body_document = path.removeprefix(ROAD), json.loads(body or b"{}")
        with self.lock:
            return json.dumps(self._do(word, body_document)).encode()

    def _do(self, word: str, document: dict[str, Any]) -> Any:
        match word:
            case "requests":
                requests, self.requests[:] = list(self.requests), []
                return requests
            case "fault":
                self.faults.append(Fault(**document))
            case "heal":
                self.faults.clear()
            case _:
                return self.acts[word](document)
        return None

    def meet(self, method: str, url: str) -> Fault | None:
        """Note a request, and give the fault that it is to meet, slept out already."""
        plain = unquote(url)
        with self.lock:
            self.requests.append(f"{method} {plain}")
            fault = next(
                (f for f in self.faults if f.url in plain and f.method in method and f.times), None
            )
            if fault:
                fault.times -= 1
        if fault and fault.sleep:
            time.sleep(fault.sleep)
        return fault if fault and fault.status else None
