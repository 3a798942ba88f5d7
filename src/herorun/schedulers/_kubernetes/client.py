"""kubectl, each question one bounded call, and what its failures mean.

Queries use `--raw`: one request each, with its complete answer and no paging.
"""

import json
import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from herorun.core.canonical_json import canonical
from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.untrusted_json import read_json
from herorun.schedulers._kubernetes.options import Options
from herorun.system.process import ProcessResult, run

_SERVER = lazy_regex(r"^Error from server(?: \((?P<reason>\w+)\))?: (?P<said>.*)", re.DOTALL)
_INVALID = lazy_regex(r'^The (\w+ "[^"]*"|request) is invalid: ')  # a 422 names no server
_LOGIN = lazy_regex(r"Unauthorized|must be logged in|token (has|is) expired")
_NO_LOGIN = lazy_regex(r"getting credentials: (?P<why>.*)")
_CONFIG = lazy_regex(r"context .* does not exist|no such file or directory|error loading config")
_NEVER = ("Forbidden", "Invalid", "BadRequest", "NotFound", "MethodNotAllowed")
_WEBHOOK = lazy_regex(r'admission webhook "(?P<name>[^"]+)" denied the request: ?(?P<why>.*)', re.S)


class ObjectNotFound(FileNotFoundError):
    """The server was asked, and has no such object."""


class NameTaken(HerorunError):
    """An object of that name is there already."""


class ServerRefusal(WrongUse):
    """The server understood the request and refuses it."""


class ReadRefusal(CouldNotLook):
    """This login may not read it, or this kubeconfig reaches no server. For a monitored run
    that is unknown, not wrong use.
    """


class Kubectl:
    """One context of one kubeconfig; what the environment says of either is ignored."""

    def __init__(self, options: Options) -> None:
        seconds = options.timeout.total_seconds()
        self._timeout = seconds
        self.argv = [
            options.program,
            f"--kubeconfig={options.config_path}",
            f"--context={options.context}",
            f"--request-timeout={max(1, round(seconds) - 1)}s",
        ]
        self.where = f"{options.context}, namespace {options.namespace}"
        self.namespace = options.namespace

    def path(self, group: str, kind: str, name: str = "", **query: str | int) -> str:
        """The URL path of one object, or of a list, in the namespace."""
        prefix = "/api/v1" if group == "v1" else f"/apis/{group}"
        path = f"{prefix}/namespaces/{self.namespace}/{kind}"
        path += f"/{quote(name, safe='/')}" if name else ""
        return f"{path}?{urlencode(query)}" if query else path

    def dry_run_path(self, group: str, kind: str) -> str:
        return self.path(group, kind, dryRun="All", fieldManager="herorun")

    def get(self, path: str) -> dict[str, Any]:
        return self._table(self._read(["get", "--raw", path], path))

    def version_of(self, group: str) -> str:
        """`group/version` that this cluster prefers."""
        if group == "batch":
            return "batch/v1"
        try:
            return str(self.get(f"/apis/{group}")["preferredVersion"]["groupVersion"])
        except ObjectNotFound:
            raise CouldNotLook(
                f"{self.where} does not serve the API group {group}: is its controller installed?"
            ) from None
        except (KeyError, TypeError):
            raise CouldNotLook(
                f"{self.where} did not return its version of the API group {group}."
            ) from None

    def read(self, path: str) -> bytes:
        return self._read(["get", "--raw", path], path).out

    def create(self, path: str, document: Any) -> dict[str, Any]:
        argv = ["create", "--raw", path, "-f", "-"]
        return self._table(self._run_checked(argv, path, canonical(document).encode()))

    def create_all(self, document: Any) -> list[dict[str, Any]]:
        """Create a List of queries, such as access reviews; returns the answers."""
        argv = ["create", "--validate=false", "--filename=-", "--output=json"]
        answer = self._read(argv, "a list", canonical(document).encode())
        return documents_in(answer.text)

    def names_in(self, kind: str, name: str) -> frozenset[str]:
        """The keys of a Secret or ConfigMap; their values never come here."""
        template = "{{range $key, $value := .data}}{{$key}}\n{{end}}"
        argv = [
            "get",
            kind,
            name,
            f"--namespace={self.namespace}",
            "-o",
            f"go-template={template}",
        ]
        return frozenset(self._read(argv, f"{kind} {name}").text.split())

    def change(self, kind: str, name: str, document: Any) -> None:
        argv = ["patch", kind, name, f"--namespace={self.namespace}", "--type=merge"]
        self._run_checked([*argv, f"--patch={canonical(document)}", "--output=name"], name)

    def _read(self, argv: Sequence[str], subject: str, stdin: bytes = b"") -> ProcessResult:
        try:
            return self._run_checked(argv, subject, stdin)
        except WrongUse as error:
            raise ReadRefusal(str(error)) from None

    def _run_checked(self, argv: Sequence[str], subject: str, stdin: bytes = b"") -> ProcessResult:
        answer = run([*self.argv, *argv], self._timeout + 5, env=kubectl_environment(), stdin=stdin)
        if answer.code:
            raise self.trouble(answer.err.decode("utf-8", "replace"), subject)
        return answer

    def _table(self, answer: ProcessResult) -> dict[str, Any]:
        try:
            document = read_json(answer.out)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise CouldNotLook(f"{self.where} answered with something other than a JSON object.")
        return document

    def trouble(self, stderr: str, subject: str) -> Exception:
        """What a failed call means, in one sentence."""
        plain = " ".join(stderr.split())
        lines = [line.strip() for line in stderr.splitlines() if line.strip()]
        match = _SERVER.match(plain)
        if _LOGIN.search(plain):
            message = f"{self.where} does not take the login of this kubeconfig: log in again."
            return CouldNotLook(message)
        if login := _NO_LOGIN.search(plain):
            why = login["why"][:400].rstrip(".")
            return CouldNotLook(f"The login of this kubeconfig for {self.where} failed: {why}.")
        if _INVALID.match(plain):
            return ServerRefusal(f"{self.where} refuses: {plain[:400].rstrip('.')}.")
        if match is None:
            if _CONFIG.search(plain):
                return WrongUse(
                    f"[scheduler] kubeconfig and context: {_final_lines(lines)}.{_ignored_file()}"
                )
            return CouldNotLook(f"could not query {self.where}: {_final_lines(lines)}.")
        reason, why = match["reason"] or "", match["said"]
        webhook = _WEBHOOK.search(why)
        if webhook:
            why = webhook["why"].rstrip(".")
            return ServerRefusal(
                f"The admission webhook {webhook['name']} of {self.where} says: {why}."
            )
        if reason == "AlreadyExists":
            return NameTaken(why)
        if reason == "NotFound" and not why.startswith("namespaces "):
            return ObjectNotFound(2, f"{self.where} has none", subject.partition("?")[0])
        if reason in _NEVER:
            return ServerRefusal(f"{self.where} refuses: {why[:400].rstrip('.')}.")
        return CouldNotLook(f"{self.where} did not answer the request: {why[:400].rstrip('.')}.")


def _ignored_file() -> str:
    """Name the file that kubectl alone would take, where the contract's may be the wrong one."""
    path = os.environ.get("KUBECONFIG", "")
    return f" KUBECONFIG ({path}) is ignored: set [scheduler] kubeconfig." if path else ""


def _final_lines(lines: Sequence[str]) -> str:
    line = (lines[-1] if lines else "kubectl said nothing").removeprefix("error: ")
    return line.removesuffix(" - did you specify the right host or port?")[:400].rstrip(".")


def kubectl_environment() -> dict[str, str]:
    """What would choose another cluster, or other options, is taken away."""
    env = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return {**env, "KUBERC": "off"}


def documents_in(text: str) -> list[dict[str, Any]]:
    """Objects that kubectl prints one after the other."""
    decoder, at, documents = json.JSONDecoder(), 0, []
    while at < len(text.rstrip()):
        try:
            document, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        except (ValueError, RecursionError):
            raise CouldNotLook("kubectl printed something other than JSON objects.") from None
        documents += [document] if isinstance(document, dict) else []
    return documents
