"""`herorun verify`."""

import re
from typing import TYPE_CHECKING

import click

from herorun.commands._options import RunArgument
from herorun.commands._output import propose_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herorun.core.seal.verification import SealProof
    from herorun.operations.record.verify import RecordVerification

EXIT_CODES = {"clear": 0, "blocked": 1, "unknown": 3}
_REPAIR = r": `(\(w=[^`]*)` "  # the command within a note about a repair


@click.command(short_help="Verify the record of a run, or a seal by its tag.")
@click.argument("run", cls=RunArgument, metavar="RUN|TAG")
@click.option("--offline", is_flag=True, help="For a seal: query neither the remote nor the store.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(start: str, run: str, offline: bool, as_json: bool) -> int:
    """RUN: walk its record's whole history, and report anything that was changed, removed or
    inserted. Every record commit that a seal, a receipt or an issue comment of herorun names must
    be part of it. The newest seal of a sealed run is verified too, as its TAG would be.

    TAG: compare the seal with this clone, its remote and the checkpoint's store: the tag's text and
    signature, its commit, the record with its statement, the tag on the remote, and the content of
    every file of the checkpoint. A file of which only the size is known is not proven. Nothing is
    changed.

    Exit code 0: nothing wrong. 1: a fault. 3: something could not be read.

    \b
    Example:
      herorun verify grug
      herorun verify herorun/grug/seal-1
    """
    if is_tag(run):
        return verify_tag(start, run, offline, as_json)
    return verify_record(start, run, as_json, offline=offline)


def is_tag(target: str) -> bool:
    """The tags of seals are `herorun/SLUG/...`; a run is a slug or a path that ends in .toml."""
    return "/" in target and not target.endswith(".toml")


def verify_record(
    start: str, run: str, as_json: bool, *, seal: bool = True, offline: bool = False
) -> int:
    from pathlib import Path

    from herorun import output
    from herorun.operations.record.verify import verify_run

    verification = verify_run(run, Path(start))
    if seal and verification.seal:
        from herorun.operations.seal.verify import verify_newest_seal
        from herorun.system.git import find_repository

        verification = verify_newest_seal(find_repository(Path(start)), verification, offline)
    if as_json:
        output.show_json(verification.document())
    else:
        _show_record(verification, start, run)
    return EXIT_CODES[verification.verdict]


def _show_record(verification: "RecordVerification", start: str, run: str) -> None:
    from pathlib import Path

    from herorun import output
    from herorun.core.finding import count

    for fault in verification.faults:
        output.show_line(f"fault: {output.clean(fault)}")
    notes = [output.clean(note) for note in verification.notes]
    repairs = [note for note in notes if re.search(_REPAIR, note)]
    for note in notes:
        if note not in repairs:
            output.show_line(f"note: {note}")
    seal_text = f" and the seal {verification.seal}" if verification.seal else ""
    output.show_line(
        f"{verification.verdict}: "
        f"{count(verification.entries, 'journal entry', 'journal entries')} in "
        f"{count(verification.commits, 'commit')}, {count(len(verification.faults), 'fault')}"
        f"{' in the record' + seal_text if seal_text else ''}"
    )
    if verification.verdict == "unknown":
        again = propose_command(start, "verify", run)
        output.show_next_step(
            f"upgrade herorun, then `{again}`"
            if verification.newer_lines
            else f"`{again}`, once the rest can be read"
        )
    if verification.faults:
        slug = Path(run).stem if run.endswith(".toml") else run
        ways = " ".join(_ways_to_a_cause(verification, slug))
        output.show_line(
            f"next: do not launch or seal until a person knows the cause of each fault. {ways}"
        )
    for repair in repairs:
        _show_repair(repair)


def _ways_to_a_cause(verification: "RecordVerification", slug: str) -> "Iterator[str]":
    """For faults of the commits, and for those of the branch on the remote."""
    if len(verification.faults) > len(verification.remote_faults):
        yield (
            "`herorun verify` keeps reporting a fault in the history, also after a repair. "
            f"`git log -p refs/herorun/record/{slug}` shows "
            "each commit; your git server's log shows who pushed it."
        )
    if verification.remote_faults:
        yield (
            "Your git server's log shows who changed the branch there. This clone still has its "
            f"own record, refs/herorun/record/{slug}: push it only once the cause is known."
        )
    if verification.restore:
        yield f"Then: `{verification.restore}`"
    elif verification.remote_faults:
        yield (
            "A plain push of it is refused, so a person then decides which of the two records "
            "stays."
        )


def _show_repair(note: str) -> None:
    """The command has a line of its own, to be copied whole; what follows it stands below."""
    from herorun import output
    from herorun.output.text_width import command_as_typed

    head, command, rest = re.split(_REPAIR, note, maxsplit=1)
    output.show_line(f"fix: {head}:")
    output.console().print(f"  {command_as_typed(command)}", soft_wrap=True)
    output.show_line(f"  {rest}")


def verify_tag(start: str, tag: str, offline: bool, as_json: bool) -> int:
    from pathlib import Path

    from herorun import output
    from herorun.operations.seal.verify import verify_seal
    from herorun.schemas.evaluations import VerifySeal
    from herorun.system.git import find_repository

    proof = verify_seal(find_repository(Path(start)), tag, offline)
    if as_json:
        output.show_json(VerifySeal.of(proof))
    else:
        _show_seal(proof, start)
    return EXIT_CODES[proof.verdict]


def _show_seal(proof: "SealProof", start: str) -> None:
    from herorun import output
    from herorun.core.finding import count
    from herorun.system import progress

    parts = {
        "proven": proof.proven,
        "note": proof.notes,
        "not proven": proof.unproven,
        "fault": proof.faults,
    }
    if progress.quiet:
        del parts["proven"]
    for word, lines in parts.items():
        for line in lines:
            output.show_line(f"{word}: {output.clean(line)}")
    faults = count(len(proof.faults), "fault")
    output.show_line(
        f"{proof.verdict}: {len(proof.proven)} proven, {len(proof.unproven)} not proven, {faults}"
    )
    if proof.faults:
        output.show_line(
            "next: do not rely on this seal until a person knows the cause of each fault"
        )
    elif proof.unproven:
        again = propose_command(start, "verify", proof.tag)
        output.show_next_step(f"`{again}`, once the rest can be read")
