"""What `--json` prints, as types: one document a command, so that a program can read it without looking into it first.

`shapes.DOCUMENTS["preflight"].model_validate_json(text)` gives a document with its types; keys that a later herorun
adds are let pass. docs/json.md is printed from here, and what the commands really print is held against it in the
tests. A command that could not do what was asked prints `shapes.Failed` in the place of its own.
"""

from collections.abc import Mapping

from herorun.schemas import boxes, judged, reports, runs
from herorun.schemas.parts import Document, FailureDocument

__all__ = ["DOCUMENTS", "Document", "FailureDocument"]

DOCUMENTS: Mapping[str, type[Document]] = {
    "init": runs.Init,
    "preflight": runs.PreflightDocument,
    "launch": runs.LaunchDocument,
    "babysit": runs.BabysitDocument,
    "babysit --all": runs.BabysitAll,
    "babysit --job": runs.BabysitJobDocument,
    "status": runs.Status,
    "status --all": runs.StatusAll,
    "watch": runs.WatchDocument,
    "list": runs.ListDocument,
    "logs": runs.LogsDocument,
    "report": reports.ReportDocument,
    "doctor": boxes.Doctor,
    "completion": boxes.Completion,
    "note": runs.Note,
    **dict.fromkeys(
        (
            "ack",
            "approve",
            "deny",
            "pause",
            "resume",
            "stop",
            "relaunch",
            "rollback",
            "fork",
            "handoff",
        ),
        runs.OrderDocument,
    ),
    "trust": runs.Trust,
    "seal": judged.SealDocument,
    "verify TAG": judged.VerifySeal,
    "logbook show": judged.LogbookShow,
    "verify RUN": judged.LogbookVerify,
    "explain": judged.Explain,
    "explain --list": judged.ExplainList,
    "waive": judged.Waive,
    "checkpoints list": judged.CheckpointsList,
    "checkpoints plan": judged.CheckpointsPlan,
    "checkpoints prune": judged.CheckpointsPrune,
    "triage": judged.TriageDocument,
    "backtest": judged.BacktestDocument,
    "compare": judged.CompareDocument,
    "goodput": judged.GoodputDocument,
    "replay": judged.ReplayAll,
    "box patrol": boxes.PatrolDocument,
    "box wait": boxes.Await,
    "box chain": boxes.ChainDocument,
    "box runbook": boxes.Handbook,
    "box timer": boxes.TimerDocument,
    "box watchers": boxes.Watchers,
    "box watchdog": boxes.WatchdogDocument,
    "jobs list": boxes.JobsList,
    "jobs add": boxes.JobsAdd,
    "jobs remove": boxes.JobsRemove,
    "jobs watch": boxes.JobsWatch,
    "jobs find": boxes.JobsFind,
    "demo": boxes.Demo,
}
