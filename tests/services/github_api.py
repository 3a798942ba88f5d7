"""Holds requests and answers against GitHub's own OpenAPI description, from npm's
`@octokit/openapi`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from services.servers import REQUIRE

NODE = Path(__file__).parents[2] / ".node-services"
FILE = NODE / "node_modules" / "@octokit" / "openapi" / "generated" / "api.github.com.json"

# Where the description and GitHub, or the emulator, are known to differ; each by the words of the
# complaint.
QUIRKS = {
    "state_reason": "`nullable` beside an `enum` without null: GitHub itself answers null",
    "network_count": "the emulator's repositories lack it",
    "subscribers_count": "the emulator's repositories lack it",
    "/installation: account:": "the emulator tells little of the account",
    "target_id": "the emulator's installations lack it",
    "GET /app: owner: None": "the emulator's apps belong to nobody",
    "/labels: : [": (
        "the labels may stand in an array of their own, says its own text beside the schema"
    ),
}

EVERYWHERE = (
    401,
    403,
    404,
    429,
)  # who may not, who is too many: any operation answers these, described or not


def faults(exchanges: Iterable[Any]) -> list[str]:
    """What does not fit, in words; nothing where the description is not installed and nobody
    insists on it.
    """
    if not FILE.exists():
        return (
            [f"no description of GitHub's API at {FILE}"] if os.environ.get(REQUIRE) == "1" else []
        )
    return [fault for each in exchanges for fault in description().faults(each)]


@cache
def description() -> "Description":
    return Description(json.loads(FILE.read_text(encoding="utf-8")))


class Description:
    def __init__(self, description: dict[str, Any]) -> None:
        from referencing import Registry, Resource, Specification

        self._description = description
        resource = Resource(contents=description, specification=Specification.OPAQUE)
        self._registry: Any = Registry().with_resource("github", resource)

    @cached_property
    def _paths(self) -> list[tuple[re.Pattern[str], str]]:
        """Each template as a pattern, those with fewer placeholders first."""
        paths = sorted(self._description["paths"], key=lambda path: path.count("{"))
        return [
            (re.compile(re.sub(r"\\\{[^/]+?\\\}", "[^/]+", re.escape(path))), path)
            for path in paths
        ]

    def faults(self, each: Any) -> Iterator[str]:
        parts = urlsplit(each.path)
        template = next(
            (path for pattern, path in self._paths if pattern.fullmatch(parts.path)), None
        )
        operation = self._description["paths"].get(template, {}).get(each.method.lower())
        where = f"{each.method} {parts.path}"
        if operation is None:
            yield f"{where}: GitHub has no such operation"
            return
        at = f"github#/paths/{template.replace('~', '~0').replace('/', '~1')}/{each.method.lower()}"
        yield from self._check_request(where, at, operation, each.request_body, parts.query)
        yield from self._check_answer(where, at, operation, each)

    def _check_request(
        self, where: str, at: str, operation: Any, body: Any, query: str
    ) -> Iterator[str]:
        parameter_names = {self._resolve(one)["name"] for one in operation.get("parameters", ())}
        for name, _ in parse_qsl(query):
            if name not in parameter_names:
                yield f"{where}: takes no parameter {name}"
        if body is not None and "requestBody" in operation:
            yield from self._wrong(
                where, f"{at}/requestBody/content/application~1json/schema", body
            )

    def _check_answer(self, where: str, at: str, operation: Any, each: Any) -> Iterator[str]:
        if each.answer is None or (each.ours and each.status >= 500):
            return  # of the gateway, and none of the API's own
        status = str(each.status)
        response = operation["responses"].get(status)
        if response is None:
            if each.status not in EVERYWHERE:
                yield f"{where}: never answers {status}"
            return
        if "$ref" in response:
            at, response = f"github{response['$ref']}", self._resolve(response)
        else:
            at = f"{at}/responses/{status}"
        if "application/json" in response.get("content", {}):
            yield from self._wrong(where, f"{at}/content/application~1json/schema", each.answer)

    def _wrong(self, where: str, schema: str, value: Any) -> Iterator[str]:
        from openapi_schema_validator import OAS30ReadValidator

        for error in OAS30ReadValidator({"$ref": schema}, registry=self._registry).iter_errors(
            value
        ):
            message = f"{where}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
            if not any(quirk in message for quirk in QUIRKS):
                yield message

    def _resolve(self, schema: Any) -> Any:
        if "$ref" not in schema:
            return schema
        target: Any = self._description
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return target
