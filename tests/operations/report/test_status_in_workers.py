"""`status --all` of many runs, whose work is done by several processes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.fleet import a_fleet

from herorun.core.event import Sealed
from herorun.operations.report import judged_run
from herorun.runs import Run, open_run, watched_run
from herorun.system.clock import now

RUNS = 16
COMMAND = """
import os, sys
from herorun.system import forked_workers
forked_workers._cores = lambda: {cores}
fork = os.fork
os.fork = lambda: print("forked", file=sys.stderr, flush=True) or fork()
from herorun.record import seals
seals.seal_problem = lambda *_: ""  # the tags are not made
from herorun.cli import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs under way on Slurm; and a broken contract."""
    monkeypatch.setenv("HERORUN_TRUST", "all")
    work, _ = a_fleet(tmp_path / "fleet", RUNS)
    (work / "runs" / "broken.toml").write_text('slug = "broken"\n?', encoding="utf-8")
    squeue = tmp_path / "fleet" / "programs" / "squeue"
    text = squeue.read_text().replace("#!/bin/sh\n", f'#!/bin/sh\necho >> "{tmp_path}/queries"\n')
    squeue.write_text(text, encoding="utf-8")
    return work


def show_status(fleet: Path, cores: int, *words: str) -> tuple[int, str, int, int]:
    """The exit code, the output, the number of workers, and how often Slurm was queried."""
    queries = fleet.parents[1] / "queries"
    queries.unlink(missing_ok=True)
    process = subprocess.run(
        [sys.executable, "-c", COMMAND.format(cores=cores), "status", *words],
        cwd=fleet,
        capture_output=True,
        text=True,
        timeout=120,
    )
    count = len(queries.read_text().splitlines()) if queries.exists() else 0
    return process.returncode, process.stdout, process.stderr.count("forked"), count


def facts(document: Any) -> list[Any]:
    """What does not change from one moment to the next."""
    return [
        (
            run["slug"],
            run.get("error"),
            run.get("run"),
            run.get("monitor"),
            [(each["check"], each["outcome"]) for each in run.get("findings", ())],
        )
        for run in document["runs"]
    ]


@pytest.mark.thorough
def test_many_runs_show_the_same_by_several_processes_and_one_query(fleet: Path) -> None:
    code, alone, none, queries = show_status(fleet, 1, "--all", "--json")
    same_code, text, workers, same_queries = show_status(fleet, 2, "--all", "--json")
    assert (none, workers) == (0, 2) and (same_code, same_queries) == (code, queries)
    runs = facts(json.loads(alone))
    assert facts(json.loads(text)) == runs and len(runs) == RUNS + 2
    assert [slug for slug, error, *_ in runs if error] == ["broken"]
    assert [state for _, _, state, *_ in runs].count("healthy") == RUNS


@pytest.mark.parametrize(("alive", "queries"), [(0, 0), (1, 1)])
def test_a_cluster_is_queried_only_for_runs_that_are_not_sealed(
    fleet: Path, alive: int, queries: int
) -> None:
    for number in range(alive, RUNS):
        seal(open_run(f"run-{number}", fleet))
    _, text, workers, count = show_status(fleet, 2, "--all", "--json")
    stages = [each.get("stage") for each in json.loads(text)["runs"]]
    assert (stages.count("sealed"), workers, count) == (RUNS - alive, 2, queries)


def seal(run: Run) -> None:
    commit, tag = run.repository.resolve("HEAD"), f"herorun/{run.slug}/seal-1"
    assert commit
    run.record.append(
        Sealed(at=now(), tag=tag, commit=commit, statement_digest=f"sha256:{'0' * 64}")
    )


def test_what_another_process_records_meanwhile_is_for_the_next_look(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("herorun.record.seals.seal_problem", lambda *_: "")
    evaluate, (run, _) = judged_run.evaluate, watched_run("run-0", fleet)

    def evaluate_meanwhile(*args: Any, **kwargs: Any) -> Any:
        seal(open_run("run-0", fleet))
        return evaluate(*args, **kwargs)

    monkeypatch.setattr(judged_run, "evaluate", evaluate_meanwhile)
    assert judged_run.judge(run).summary.stage == "launched"
    assert judged_run.judge(run).summary.stage == "sealed"
