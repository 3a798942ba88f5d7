"""The tools of `herorun mcp`: each is one command, whose `--json` document is the answer."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass

PREVIEW = "preview_order"
CONFIRM = "confirm_order"
# A name and no path: an agent reads the runs of this repository, not the files of the machine.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


@dataclass(frozen=True)
class Parameter:
    """An argument of a tool. Without an option it is a positional argument of the command."""

    name: str
    help: str
    option: str = ""
    kind: str = "string"
    _: KW_ONLY
    required: bool = False
    pattern: str = ""
    most: int = 0

    @property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": self.kind, "description": self.help}
        if self.kind == "array":
            schema["items"] = {"type": "string"}
        if self.pattern:
            schema["pattern"] = self.pattern
        if self.kind == "integer":
            schema |= {"minimum": 0, **({"maximum": self.most} if self.most else {})}
        return schema

    def argv(self, value: Any) -> list[str]:
        """Never a word that the command line could take for another option."""
        if not self.option:
            return [value]
        if self.kind == "boolean":
            return [self.option] if value else []
        values = value if self.kind == "array" else [value]
        return [f"{self.option}={each}" for each in values]


@dataclass(frozen=True)
class Tool:
    """A command as a tool. `preview` is the command whose document shows what an order would do."""

    name: str
    command: str
    help: str
    parameters: Sequence[Parameter] = ()
    document: str = ""
    _: KW_ONLY
    own_text: bool = False
    preview: str = ""

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {each.name: each.schema for each in self.parameters},
            "required": [each.name for each in self.parameters if each.required],
            "additionalProperties": False,
        }


RUN = Parameter("run", "The run's name, as `list_runs` gives it.", required=True, pattern=NAME)
REASON = Parameter("reason", "Why, for the record.", "--reason", required=True)
STOP_FIRST = Parameter("stop_first", "Stop a running job first.", "--stop-first", "boolean")

READS: Sequence[Tool] = (
    Tool("list_runs", "list", "Every run, from the records alone; queries nothing.", (), "list"),
    Tool(
        "run_status",
        "status",
        "Read the job, its metrics and its record now: state, alerts, questions, next command.",
        (RUN,),
        "status",
    ),
    Tool(
        "run_report",
        "report",
        "Verdict, progress, estimate, incidents, instances and goodput of a run.",
        (RUN,),
        "report",
    ),
    Tool(
        "explain_check",
        "explain",
        "What a check looks for, why, and what to do about it.",
        (Parameter("check", "The check's name.", required=True, pattern=NAME),),
        "explain",
        own_text=True,
    ),
    Tool("triage_run", "triage", "Why the newest instance of a run ended.", (RUN,), "triage"),
    Tool(
        "read_logs",
        "logs",
        "The newest lines of a job's log.",
        (
            RUN,
            Parameter("lines", "How many.", "--lines", "integer", required=True, most=2000),
            Parameter("instance", "An earlier instance.", "--instance", pattern=NAME),
        ),
        "logs",
    ),
    Tool(
        "compare_runs",
        "compare",
        "Two runs or instances, joined on the step. Set the gates before you look.",
        (
            Parameter("a", "A run, or an instance such as grug-2.", required=True, pattern=NAME),
            Parameter("b", "The one that is compared with it.", required=True, pattern=NAME),
            Parameter("window", "Steps FROM:TO, both included.", "--window"),
            Parameter("gates", "Bounds such as 'loss mean <= +0.5%'.", "--gate", "array"),
        ),
        "compare",
    ),
    Tool(
        "list_checkpoints",
        "checkpoints list",
        "Every checkpoint of a run: complete or not, temporary or not, tainted or not.",
        (RUN,),
        "checkpoints list",
    ),
    Tool("read_record", "logbook show", "The logbook of a run.", (RUN,), "logbook show"),
    Tool(
        "verify_run",
        "verify",
        "Whether the record and the newest seal are unchanged.",
        (RUN,),
        "verify RUN",
    ),
    Tool(
        "run_preflight",
        "preflight",
        "Whether a run may start: the findings of the launch checks. Submits nothing.",
        (RUN,),
        "preflight",
    ),
    Tool("run_goodput", "goodput", "Where the time and the money went.", (RUN,), "goodput"),
    Tool("run_doctor", "doctor", "What is broken around a run.", (RUN,), "doctor"),
)

ORDERS: Sequence[Tool] = (
    Tool(
        "launch",
        "launch",
        "Submit the run once, exactly as the previewed plan says.",
        (RUN,),
        "launch",
        preview="preflight",
    ),
    Tool(
        "note",
        "note --title=agent",
        "Add an entry to the logbook.",
        (
            RUN,
            Parameter("text", "The entry.", required=True),
            Parameter("caveat", "What the seal must say about the run.", "--caveat"),
        ),
        "note",
        preview="status",
    ),
    Tool(
        "ack",
        "ack",
        "Acknowledge an alert: no more reminders.",
        (RUN, Parameter("alert", "Its check.", required=True), REASON),
        "ack",
        preview="status",
    ),
    Tool(
        "pause",
        "pause",
        "Suspend automatic relaunches and stops.",
        (RUN, Parameter("until", "A duration such as 2h.", "--until", required=True), REASON),
        "pause",
        preview="status",
    ),
    Tool("resume", "resume", "End a pause.", (RUN, REASON), "resume", preview="status"),
    Tool(
        "stop", "stop", "Stop the job and confirm its end.", (RUN, REASON), "stop", preview="status"
    ),
    Tool(
        "relaunch",
        "relaunch",
        "Start the next instance from the newest complete checkpoint.",
        (RUN, REASON, STOP_FIRST),
        "relaunch",
        preview="status",
    ),
    Tool(
        "rollback",
        "rollback",
        "Start the next instance from an earlier checkpoint.",
        (
            RUN,
            Parameter("to", "The checkpoint's step.", "--to", "integer", required=True),
            REASON,
            STOP_FIRST,
        ),
        "rollback",
        preview="rollback --dry-run",
    ),
    Tool(
        "fork",
        "fork",
        "Write the contract of a new run that starts from a checkpoint of this one.",
        (
            RUN,
            Parameter("new", "The new run's name.", required=True, pattern=NAME),
            Parameter("from", "The checkpoint's step.", "--from", "integer"),
            REASON,
        ),
        "fork",
        preview="status",
    ),
    Tool(
        "handoff",
        "handoff",
        "Give the monitoring of a run to another owner.",
        (RUN, Parameter("to", "USER@MACHINE.", "--to", required=True), REASON),
        "handoff",
        preview="status",
    ),
    Tool(
        "seal",
        "seal",
        "Verify that the run is done, and tag it.",
        (RUN, Parameter("milestone", "Such as step-100000.", "--milestone", pattern=NAME)),
        "seal",
        preview="status",
    ),
)


def order_named(name: object) -> Tool:
    for order in ORDERS:
        if order.name == name:
            return order
    names = ", ".join(order.name for order in ORDERS)
    raise WrongUse(f"There is no order {name!r}; the orders are {names}.")
