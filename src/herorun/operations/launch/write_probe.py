"""The write probe of the output roots: only a test write proves that a trainer can write there."""

from herorun.core.errors import CouldNotLook, describe_error, sentence
from herorun.runs import Run


def probe_roots(run: Run) -> None:
    """Write, list, rename and delete under `_herorun/` of each root; `CouldNotLook` names the root
    that fails.
    """
    output = run.contract.output
    for root in filter(None, (output.root, output.temporary_root)):
        try:
            run.store.probe(root.rstrip("/"))
        except OSError as error:
            raise CouldNotLook(
                sentence(
                    f"The output root {root} cannot be written as a trainer would: "
                    f"{describe_error(error)}"
                )
            ) from None
