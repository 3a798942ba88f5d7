"""The JSON documents of `--json` as types: one document per command.

`schemas.DOCUMENTS["preflight"].model_validate_json(text)` returns a typed document; keys that a
later herorun adds are accepted. docs/json.md is printed from here, and tests compare it with what
the commands print. A command that fails prints a `FailureDocument` instead.
"""

from typing import TYPE_CHECKING, Any

from herorun.schemas.parts import Document, FailureDocument

if TYPE_CHECKING:
    from herorun.schemas.documents import DOCUMENTS

__all__ = ["DOCUMENTS", "Document", "FailureDocument"]


def __getattr__(name: str) -> Any:
    """`DOCUMENTS`, which imports all types: a command prints one document, and imports its type."""
    if name != "DOCUMENTS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from herorun.schemas.documents import DOCUMENTS

    return DOCUMENTS
