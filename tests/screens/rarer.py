"""The screens of what few people ever get: a plan file that git sees, a chain behind a job, long
values, questions at a terminal, answers that come too late, and a record damaged in each way.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_contract, a_plan, an_instance
from herorun.core.errors import CouldNotLook
from herorun.core.event import Initialised, Noted
from herorun.core.journal import chain
from herorun.core.plan import describe_differences
from herorun.core.record.render import add_entries, digest_of, entries_of, new_logbook
from herorun.core.record.verify import RecordSnapshot, judge_history
from herorun.core.remote.target import SshLogin
from herorun.operations.doctor import backends, machine
from herorun.operations.doctor.doctor import _part_of_error
from herorun.operations.orders.acknowledge import _overtaken_by
from herorun.operations.orders.trust import TrustQuestion
from herorun.operations.record.verify import (
    RecordVerification,
    _check_other_refs,
    _compare_tips,
    restore_command,
)
from herorun.schedulers import slurm
from herorun.system.git import GitFailed
from herorun.system.process import ProcessResult
from herorun.system.templates import template
from screens.catalogue import BOX_RUN, OPERATIONS, answered_by, raising
from screens.details import outcome_without_plan
from screens.orders import ASKED_MEMORY, MEMORY, order_screen
from screens.rendering import Screen
from screens.states import RUN, RUN_ANSWERS, preflight

# --- preflight ------------------------------------------------------------------------------------

TARGET = "launch.preflight.preflight"
LONG = [f"some-package-{number}==1.{number}.0" for number in range(20)]
SCRIPT = "\n".join(f"#SBATCH --option-{number}=value" for number in range(30))


def plans() -> Iterator[Screen]:
    writing = {"launch__plan_file__write_plan_file": None}
    argv = "preflight tiny --out"
    yield answered_by("preflight-out", f"{argv} .herorun/p.json", TARGET, preflight(), **writing)
    hidden_answers = {"launch__plan_file__write_plan_file": Path(".herorun/p.json")}
    yield answered_by("preflight-out-seen", f"{argv} p.json", TARGET, preflight(), **hidden_answers)
    yield answered_by("preflight-out-unplanned", f"{argv} p.json", TARGET, outcome_without_plan())
    plan = a_plan(RUN.contract)
    packages = replace(plan.packages, value=tuple(LONG), source="pip freeze")
    long_plan = replace(plan, packages=packages)
    new_packages = [*LONG[:-1], LONG[-1].replace("==", "==9.")]
    plan_changes = describe_differences({"packages": LONG}, {"packages": new_packages})
    outcome = replace(preflight(plan=long_plan), request=SCRIPT)
    changes = {"launch__plan_file__since_last_instance": plan_changes}
    yield answered_by("preflight-long", "preflight tiny", TARGET, outcome, **changes)


# --- a chain behind a job -------------------------------------------------------------------------


def chains() -> Iterator[Screen]:
    depends = partial(slurm.Slurm.dependent_command, SimpleNamespace(_options=SLURM))
    memory = SimpleNamespace(current=an_instance(1, job="4711"))
    values = {
        **vars(RUN),
        "contract": BOX_RUN,
        "record": SimpleNamespace(memory=lambda: memory),
        "scheduler": SimpleNamespace(dependent_command=depends),
        "place": SimpleNamespace(reach=SimpleNamespace(login=SshLogin(host="gpu7"))),
    }
    stages = {"folder": "/data/tiny/chain", "stage": [{"name": "eval", "run": "python -m eval"}]}
    waiting = a_contract(chain={**stages, "after_pattern": "done"}, patrol={"log": "/data/job.log"})
    for name, contract in {"behind": BOX_RUN, "waiting": waiting}.items():
        chained_run = SimpleNamespace(**{**values, "contract": contract})
        run = {
            "herorun.runs.watched_run": lambda *_, chained_run=chained_run, **__: (chained_run, "")
        }
        yield Screen(f"chain-{name}", "box chain tiny --out chain.sh", {**RUN_ANSWERS, **run})


SLURM: Any = SimpleNamespace(slurm_conf=None, slurm_bin=None)

# --- questions at a terminal ----------------------------------------------------------------------


def prompts() -> Iterator[Screen]:
    question = TrustQuestion(
        slug="tiny",
        repository=Path("/work"),
        items=("[scheduler] slurm_bin = /opt/slurm/bin: Slurm's programs are run from there",),
        launches=(),
        ids=(),
        forged=(),
        seals=(),
    )
    asking = {
        f"{OPERATIONS}orders.trust.build_question": question,
        f"{OPERATIONS}orders.trust.accept": None,
    }
    for name, answer in {"yes": "y\n", "no": "n\n", "neither": "perhaps\n\n"}.items():
        yield Screen(f"trust-{name}", "trust tiny", {**RUN_ANSWERS, **asking}, keys=answer)
    for name, answers in {"asked": "slrm\nlauncher\n", "id": "slurm\n"}.items():
        yield Screen(f"babysit-job-{name}", "babysit --job job-7", keys=answers)


# --- orders ---------------------------------------------------------------------------------------


def orders() -> Iterator[Screen]:
    after: Any = SimpleNamespace(
        slug="tiny",
        record=SimpleNamespace(memory=lambda: replace(MEMORY, instances=(an_instance(2),))),
    )
    late = {"acknowledge___overtaken_by": lambda _, *answer: _overtaken_by(after, *answer)}
    yield replace(order_screen("deny tiny --reason why", ASKED_MEMORY, **late), name="deny-late")


# --- doctor ---------------------------------------------------------------------------------------


def doctors() -> Iterator[Screen]:
    """Each part as the probes word it: in a new repository, and where others refuse or are
    silent.
    """
    silent = CouldNotLook("gpu7 does not answer within 20 s")
    run: Any = DOCTORED_RUN
    channel: Any = SimpleNamespace(name="PAGER", problem=lambda: "PAGER is not set")
    works: Any = SimpleNamespace(name="CHAT", problem=lambda: "")
    unborn: Any = SimpleNamespace(
        config=lambda _: "", remote_tips=lambda *_, **__: {}, resolve=lambda _: None
    )
    refusal = ProcessResult(1, b"", b"remote: Permission to lab/tiny denied to ada.")
    refusing_repository: Any = SimpleNamespace(
        remote_tips=lambda *_, **__: {},
        resolve=lambda _: "c0" * 20,
        git=raising(GitFailed(("push", "origin"), refusal)),
    )
    new = [
        *machine._settings(Path("/nowhere")),
        *machine._examine_git_identity(unborn),
        *machine._remote(unborn, "origin"),
        *backends._contract(run),
        *backends._scheduler(run),
        *backends._examine_tracker(run),
        *backends._root(run, "gs://bucket/tiny"),
        *backends._issue(run),
        *backends._secret(run, "TINY_TOKEN"),
        *backends._channel(channel, True),
        *backends._channel(works, False),
    ]
    away = [
        *machine._remote(refusing_repository, "origin"),
        _part_of_error("scheduler", "ssh, tiny", silent),
        _part_of_error("store", "/data/tiny", PermissionError(13, "Permission denied", "/data")),
    ]
    for name, parts in {"new": new, "refused": away}.items():
        yield Screen(f"doctor-{name}", "doctor tiny", {f"{OPERATIONS}doctor.doctor.examine": parts})


def nothing_there(*_: Any) -> None:
    raise FileNotFoundError


DOCTORED_RUN = SimpleNamespace(
    slug="tiny",
    contract=a_contract(notify={}),
    file=SimpleNamespace(path="runs/tiny.toml", is_reviewable=False),
    scheduler=SimpleNamespace(live_jobs=lambda _: ()),
    tracker=SimpleNamespace(read=nothing_there),
    store=SimpleNamespace(names=nothing_there),
    issue=SimpleNamespace(find=lambda _: None),
    place=SimpleNamespace(reach=None),
)

# --- a damaged record -----------------------------------------------------------------------------

PAGE, SEGMENT = ".agents/logbooks/tiny.md", ".agents/logbooks/tiny.journal/20260101.jsonl"


def history() -> list[RecordSnapshot]:
    """An untouched record of five commits."""
    notes = [Noted(NOON, "dri", f"note {number}", {"Status": "on"}) for number in range(4)]
    lines = chain([Initialised(NOON, "tiny", {"DRI": "@dri"}, "issue.md"), *notes], "", digest_of)
    empty = new_logbook(template("logbook.md"), "tiny", {"DRI": "@dri"})
    return [
        RecordSnapshot(
            f"{number}c" * 20,
            ("0c" * 20,) if number else (),
            {SEGMENT: "".join(f"{line.text}\n" for line in lines[: number + 1]).encode()},
            {PAGE: add_entries(empty, entries_of(lines[: number + 1])).encode()},
        )
        for number in range(5)
    ]


def damages() -> Iterator[tuple[str, list[RecordSnapshot]]]:
    """The same record after each kind of edit by git; the last commit has it, unless it was put
    right.
    """
    *before, last = history()
    page, journal = last.pages[PAGE].decode(), last.segments[SEGMENT]
    others = journal.partition(b"\n")[2]
    for name, changes in {
        "merged": {"parents": ("1c" * 20, "2c" * 20)},
        "journal-removed": {"segments": {}},
        "journal-edited": {"segments": {SEGMENT: others}},
        "line-broken": {"segments": {SEGMENT: journal + b"no line\n"}},
        "logbook-removed": {"pages": {}},
        "contract-edited": {"pages": {PAGE: page.replace("@dri", "@eve", 1).encode()}},
        "entry-edited": {"pages": {PAGE: page.replace("note 1", "note 7").encode()}},
        "text-added": {"pages": {PAGE: page.replace("## Event Log", "## Event Log\n\nx").encode()}},
        "page-missing": {"pages": {PAGE: last.pages[PAGE], PAGE.replace(".md", "-3.md"): b"x"}},
    }.items():
        yield name, [*before, replace(last, **changes)]


def records() -> Iterator[Screen]:
    target = "record.verify.verify_run"
    faults = [f for _, commits in damages() for f in judge_history(commits).faults]
    verification = RecordVerification(
        entries=5, commits=5, faults=tuple(dict.fromkeys(faults)), notes=()
    )
    yield answered_by("verify-edited", "verify tiny", target, verification)
    remote_faults = {
        "reset": _compare_tips(record("pushed older"), "c0" * 20, "0d" * 20, "c0" * 20)[1],
        "rewritten": _compare_tips(record(), "c0" * 20, "0d" * 20, None)[1],
        "gone": _check_other_refs(record())[0],
    }
    for name, of_remote in remote_faults.items():
        changed_verification = replace(
            verification,
            faults=tuple(of_remote),
            remote_faults=tuple(of_remote),
            restore="" if name == "rewritten" else restore_command(record()),
        )
        yield answered_by(f"verify-{name}", "verify tiny", target, changed_verification)


def record(older: str = "") -> Any:
    repository = SimpleNamespace(is_ancestor=lambda *_: bool(older))
    return SimpleNamespace(
        repository=repository,
        remote="origin",
        branch="herorun/tiny",
        ref="refs/herorun/record/tiny",
        pushed_tip="c0" * 20,
    )


def rarer_screens() -> Iterator[Screen]:
    for part in (plans(), chains(), prompts(), orders(), doctors(), records()):
        yield from part
