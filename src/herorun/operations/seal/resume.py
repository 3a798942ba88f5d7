"""Resumes an interrupted seal: what it stated, and which parts are already published."""

from collections.abc import Mapping
from typing import Any

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import Blocked, HerorunError
from herorun.core.event import Failed
from herorun.core.evidence import Sealing
from herorun.core.journal import Memory
from herorun.core.seal.parse import parse_statement, statement_of
from herorun.core.seal.statement import facts_of
from herorun.operations.seal.statement import build_record_part
from herorun.operations.seal.tag import local_tag, remote_tag
from herorun.record import MAX_BYTES
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.git.tags import tag_text


def unfinished_seal(run: Run, memory: Memory, tag: str, sealing: Sealing) -> dict[str, Any] | None:
    """The statement of an interrupted seal, if it still describes the run, so that the seal is
    finished unchanged.
    """
    if tag_message := tag_text(run.repository, tag):
        return _read_unfinished_statement(run, memory, tag, tag_message, sealing)
    intent = memory.intended.get(write_key(Verb.TAG, tag))
    if intent is None or run.record.tip is None:
        return None
    if remote_tag(run, tag):
        fetch = f"git fetch {run.contract.code.remote} tag {tag}"
        raise Blocked(
            f"The tag of this seal is on the remote and not in this clone: `{fetch}`, then seal "
            "again."
        )
    path = f"{run.record.files_path}/{intent.what}"
    data = run.repository.read(run.record.tip, [path], MAX_BYTES)[path]
    if data is None:
        raise HerorunError(
            f"The statement {path} of the interrupted seal is not in the record: `herorun verify "
            f"{run.slug}` checks it."
        )
    try:
        statement = parse_statement(data)
    except ValueError as error:
        raise HerorunError(
            f"The statement {path} of the interrupted seal is damaged: {error}. `herorun verify "
            f"{run.slug}` checks the record."
        ) from None
    if _matches_request(statement, sealing) and _states(statement, memory):
        return statement
    why = "never tagged, and out of date: a new statement was made"
    run.record.append(Failed(now(), intent.key, intent.attempt, why))
    run.record.push()
    return None


def _matches_request(statement: Mapping[str, Any], sealing: Sealing) -> bool:
    facts = facts_of(statement)
    return (facts["kind"], facts["name"]) == (sealing.kind.value, sealing.name)


def _states(statement: Mapping[str, Any], memory: Memory) -> bool:
    facts = facts_of(statement)
    record = build_record_part(memory)
    caveats = record.pop("caveats")
    same = all(facts.get(name) == value for name, value in record.items())
    return same and set(caveats) <= set(facts["caveats"])


def _read_unfinished_statement(
    run: Run, memory: Memory, tag: str, text: str, sealing: Sealing
) -> dict[str, Any]:
    """The statement of an interrupted seal whose tag exists; the tag is never recreated."""
    remote = run.contract.code.remote
    statement = statement_of(text)
    if statement and _states(statement, memory) and _matches_request(statement, sealing):
        return statement
    remote_oid = remote_tag(run, tag)
    if remote_oid is None:
        raise Blocked(
            f"There is a tag {tag} that was never pushed, and it does not state this run as it is "
            f"now. `git tag -d {tag}`, then seal again."
        )
    if statement and remote_oid == local_tag(run, tag) and _same_instances(statement, memory):
        if _matches_request(statement, sealing):
            return statement  # later notes cannot be added to it: `_tag` warns about them
        facts = facts_of(statement)
        other = f"{facts['kind']} {facts['name']}".strip()
        raise Blocked(
            f"{tag} is on {remote} as a seal of another kind ({other}): repeat that seal first."
        )
    raise Blocked(
        f"The tag {tag} on {remote} does not state this run as it is now, and herorun never moves "
        f"it: compare it with `git show {tag}`."
    )


def _same_instances(statement: Mapping[str, Any], memory: Memory) -> bool:
    return [i["name"] for i in facts_of(statement)["instances"]] == [
        i.name for i in memory.instances
    ]
