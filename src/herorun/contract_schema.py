"""The contract's JSON Schema, with the options of every built-in adapter and the thresholds of
every check.
"""

from dataclasses import fields
from datetime import timedelta
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from pydantic_core import CoreSchema

from herorun import adapter_declarations, discover
from herorun.core.contract import Contract
from herorun.core.docstrings import unwrap
from herorun.core.durations import format_duration


class ContractSchema(GenerateJsonSchema):
    """Durations as people write them, since a default must be valid where it stands; and the
    docstrings of classes with each paragraph on one line.
    """

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
        document = super().generate(schema, mode)
        for each in (document, *document.get("$defs", {}).values()):
            if "description" in each:
                each["description"] = unwrap(each["description"])
        return document

    def encode_default(self, dft: Any) -> Any:
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def contract_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a contract file."""
    schema = Contract.model_json_schema(by_alias=True, schema_generator=ContractSchema)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "herorun run contract"
    for table, port in (("TrackerTable", "trackers"), ("SchedulerTable", "schedulers")):
        _add_options(schema["$defs"][table], port)
    schema["$defs"]["BabysitTable"]["properties"]["thresholds"] = _thresholds()
    return schema


def _add_options(table: dict[str, Any], port: str) -> None:
    """The keys of each kind hold only where that kind is chosen."""
    by_kind, own = adapter_declarations.adapter_options(port), set(table["properties"])
    for kind, options in by_kind.items():
        of_model = getattr(options, "model_json_schema", None)
        shape = of_model(schema_generator=ContractSchema) if of_model else {}
        own_options = {
            name: {**facts, "description": f"kind {kind}: {facts.get('description', name)}"}
            for name, facts in shape.get("properties", {}).items()
            if name not in own
        }
        table["properties"] |= own_options
        table.setdefault("$defs", {}).update(shape.get("$defs", {}))
    table["properties"]["kind"]["examples"] = sorted(by_kind)


def _thresholds() -> dict[str, Any]:
    tables = {
        check.name: {
            "type": "object",
            "additionalProperties": False,
            "description": check.problem,
            "properties": {
                field.name: {"default": _show_default(field.default)}
                for field in fields(check.limits)
            },
        }
        for check in discover.checks()
        if check.limits is not None
    }
    return {"type": "object", "additionalProperties": False, "properties": tables, "default": {}}


def _show_default(value: Any) -> Any:
    return format_duration(value) if isinstance(value, timedelta) else value
