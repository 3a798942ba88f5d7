"""A seal that was begun and did not come to its end: what it stated, and what of it is in the world."""

from typing import Any

from herorun.acts.statement import parse_statement, remembered, statement_of
from herorun.core.errors import Blocked, HerorunError
from herorun.core.event import Failed
from herorun.core.journal import Memory
from herorun.system.clock import now
from herorun.system.plumbing import tag_text
from herorun.workspace import Run


def tag_name(run: Run) -> str:
    return f"herorun/{run.slug}/seal-1"


def begun(run: Run, memory: Memory, key: str) -> dict[str, Any] | None:
    """The statement of a seal that was begun: it is finished as it was meant, while it still states the run."""
    if tagged := tag_text(run.repository, tag_name(run)):
        return _stated(run, memory, tagged)
    intended = memory.intended.get(key)
    if intended is None or run.record.tip is None:
        return None
    if tag_there(run):
        fetch = f"git fetch {run.contract.code.remote} tag {tag_name(run)}"
        raise Blocked(
            f"The tag of this seal is on the remote and not in this clone: `{fetch}`, then seal again."
        )
    path = f"{run.record.files_path}/{intended.what}"
    data = run.repository.read(run.record.tip, [path])[path]
    if data is None:
        raise HerorunError(f"The statement {path} of the interrupted seal is not in the record.")
    try:
        statement = parse_statement(data)
    except ValueError as error:
        raise HerorunError(
            f"The statement {path} of the interrupted seal is damaged: {error}. A person must look."
        ) from None
    if _states(statement, memory):
        return statement
    run.record.append(Failed(now(), key, intended.attempt, "never tagged, and out of date: stated anew"))
    run.record.push()
    return None


def _states(statement: dict[str, Any], memory: Memory) -> bool:
    return all(statement.get(name) == value for name, value in remembered(memory).items())


def _stated(run: Run, memory: Memory, text: str) -> dict[str, Any]:
    """What the tag of a seal says that did not go through to its end; the tag is never made anew."""
    tag, remote = tag_name(run), run.contract.code.remote
    statement = statement_of(text)
    if statement and _states(statement, memory):
        return statement
    there = tag_there(run)
    if there is None:
        raise Blocked(
            f"There is a tag {tag} that was never pushed, and it does not state this run as it is now. `git tag -d {tag}`, then seal again."
        )
    if statement and there == tag_here(run) and _same_instances(statement, memory):
        return statement  # what was noted since cannot get into it any more: `_tag` says so
    raise Blocked(
        f"The tag {tag} is on {remote} already, where it is never moved, and it does not state this run as it is now. A person must look."
    )


def _same_instances(statement: dict[str, Any], memory: Memory) -> bool:
    return [i["name"] for i in statement["instances"]] == [i.name for i in memory.instances]


def tag_there(run: Run) -> str | None:
    """The seal's tag on the remote; None if it is not there, or if there is no remote."""
    remote, ref = run.contract.code.remote, f"refs/tags/{tag_name(run)}"
    if remote not in run.repository.remotes():
        return None
    return run.repository.remote_tips(remote, ref).get(ref)


def tag_here(run: Run) -> str | None:
    """The seal's tag in this clone."""
    ref = f"refs/tags/{tag_name(run)}"
    answer = run.repository.git("rev-parse", "--verify", "--quiet", ref, ok=(0, 1))
    return answer.text.strip() if answer.code == 0 else None
