"""The commit that the container image was built from, by its label."""

import json
from shutil import which

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Container, Nothing, WorkTree
from herorun.core.lazy_regex import lazy_regex
from herorun.system.git import Repository
from herorun.system.git.remote_refs import changed_files, named_commit
from herorun.system.process import run

DEADLINE = 60.0  # seconds for all queries of a registry
_COMMIT = lazy_regex(r"[0-9a-f]{7,64}")


def read_container(
    repository: Repository, contract: Contract, tree: WorkTree
) -> Container | Nothing:
    """The image's revision label, and the files that differ between that commit and HEAD, if this
    clone has it.
    """
    image = contract.runtime.container
    if not image:
        return Nothing("the contract names no container")
    if image.endswith(".sif"):
        digest, revision = None, _of_file(image, str(repository.top / contract.command.cwd))
    else:
        digest, revision = _of_registry(image)
    label = (revision or "").strip().lower()
    commit = named_commit(repository, label) if _COMMIT.fullmatch(label) else None
    if commit is None:
        return Container(image, digest, revision)
    return Container(image, digest, revision, True, changed_files(repository, commit, tree.commit))


def _of_registry(image: str) -> tuple[str, str | None]:
    from herorun.core.code.image_reference import parse_image
    from herorun.sources._registry import ask_image
    from herorun.system.timeout import within

    name = parse_image(image)
    if name is None:
        raise CouldNotLook(f"{image} is not an image name: write it host/name@sha256:... .")
    return within(DEADLINE, lambda: ask_image(name))


def _of_file(image: str, folder: str) -> str | None:
    """The label of an Apptainer image on this machine, as the tool prints it."""
    from herorun.sources._registry import REVISION

    tool = which("apptainer") or which("singularity")
    if tool is None:
        raise CouldNotLook(
            f"{image} can only be read with apptainer, which is not on this machine."
        )
    answer = run((tool, "inspect", "--json", image), 30.0, cwd=folder)
    if answer.code:
        raise CouldNotLook(f"`apptainer inspect {image}` failed: {answer.complaint}")
    try:
        labels = json.loads(answer.out)["data"]["attributes"]["labels"]
        revision = labels.get(REVISION)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CouldNotLook(f"`apptainer inspect {image}` returned no labels.") from None
    return str(revision) if revision else None
