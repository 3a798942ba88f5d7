"""json.md, printed from `herorun.schemas`."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

from words import comments, page, sentence, show_text, table

from herorun.contract_schema import ContractSchema
from herorun.core.lazy_pydantic import BaseModel
from herorun.schemas import DOCUMENTS, FailureDocument

Schema = Mapping[str, Any]
INTRO = """\
With `--json` a command prints one of these documents to standard output; messages go to standard error, and the exit code stays the same.
A command that fails prints [a failure](#a-failure) instead.
`herorun babysit` without `--once` prints one document per line; a run that cannot be monitored is a line with `slug` and `error`.
Every document has `"schema": 1`; from version 1.0 on, under that number keys may be added, but none is renamed or removed, and none changes its type.
Null means that no value is known; a number that is not finite is a string.
A command in a message is as typed in the repository, without `-C`; one in double backticks is for another clone or machine.

The types are also in Python: `herorun.schemas.DOCUMENTS["preflight"].model_validate_json(text)`, and `.model_json_schema()` for the JSON Schema.
Tests compare what the commands print with these types, key by key."""  # noqa: E501  # a text that is read as it stands


def json_page() -> str:
    schemas = {name: schema_of(model) for name, model in DOCUMENTS.items()}
    parts: dict[str, Schema] = {}
    for schema in schemas.values():
        parts |= schema.get("$defs", {})
    alike: dict[str, list[str]] = {}
    for name, model in DOCUMENTS.items():
        alike.setdefault(model.__name__, []).append(name)
    documents = [document_part(names, schemas[names[0]], parts) for names in alike.values()]
    kinds = {kind.__name__: kind for model in DOCUMENTS.values() for kind in kinds_in(model)}
    sections = [
        f"### {name}\n\n{schema_words(schema, parts, comments(kinds.get(name)))}"
        for name, schema in sorted(parts.items())
        if "properties" in schema
    ]
    failure = f"## A failure\n\n{schema_words(schema_of(FailureDocument), {}, {})}"
    return page(
        "JSON schemas", "herorun.schemas", [INTRO, failure, *documents, "## Parts", *sections]
    )


def schema_of(model: type[BaseModel]) -> Schema:
    return model.model_json_schema(mode="serialization", schema_generator=ContractSchema)


def kinds_in(kind: Any, ancestors: set[Any] | None = None) -> Iterator[Any]:
    """The classes that a schema is made of, itself the first."""
    ancestors = set() if ancestors is None else ancestors
    if kind in ancestors:
        return
    ancestors.add(kind)
    if dataclasses.is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        yield kind
        for inside in get_type_hints(kind).values():
            yield from kinds_in(inside, ancestors)
    for inside in get_args(kind):
        yield from kinds_in(inside, ancestors)


def document_part(names: list[str], schema: Schema, parts: Mapping[str, Schema]) -> str:
    commands = ", ".join(f"`herorun {name} --json`" for name in names)
    title = names[0] if len(names) == 1 else "orders"
    return f"## {title}\n\n{commands}\n\n{schema_words(schema, parts, {})}"


def schema_words(schema: Schema, parts: Mapping[str, Schema], comment_of: Mapping[str, str]) -> str:
    """What it is, and its keys; the key `schema` of every document is described once."""
    doc = (schema.get("description") or "").partition("\n")[0]
    rows = [
        (
            f"`{name}`",
            type_words(each, parts),
            sentence(each.get("description") or comment_of.get(name, "")),
        )
        for name, each in schema["properties"].items()
        if name != "schema"
    ]
    return "\n\n".join(
        part for part in (show_text(doc), table(("key", "type", "meaning"), rows)) if part
    )


def type_words(schema: Schema, parts: Mapping[str, Schema]) -> str:
    """The type of a value in JSON; a part of its own is linked to."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return (
            f"[{name}](#{name.lower()})"
            if "properties" in parts[name]
            else type_words(parts[name], parts)
        )
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_words(part, parts) for part in schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return ", ".join(
            f"`{json.dumps(value)}`" for value in schema.get("enum", [schema.get("const")])
        )
    match schema.get("type"):
        case "array":
            return f"list of {type_words(schema.get('items', {}), parts)}"
        case "object":
            inside = schema.get("additionalProperties")
            return (
                f"object of {type_words(inside, parts)}"
                if isinstance(inside, dict) and inside
                else "object"
            )
        case "string" if schema.get("format") == "date-time":
            return "date and time"
    return str(schema.get("type", "anything"))
