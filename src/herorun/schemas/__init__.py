"""What `--json` prints, as types: one document a command, so that a program can read it without looking into it first.

`shapes.DOCUMENTS["preflight"].model_validate_json(text)` gives a document with its types; keys that a later herorun
adds are let pass. docs/json.md is printed from here, and what the commands really print is held against it in the
tests. A command that could not do what was asked prints `shapes.Failed` in the place of its own.
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
