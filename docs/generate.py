"""Print the reference from the code: `python docs/generate.py` writes it, `--check` fails where it
is stale.

checks.md from the checks' own pages, cli.md from the commands' help, contract.md from the
contract's schema, triage.md from the signatures of failures, json.md from the schemas, library.md
from the docstrings, metrics.md from the exported metrics and the shipped alert rules, agents.md
from the tools of `herorun mcp`, mutants.md from the file of surviving mutants; in the package the
index of health checks and the signatures as JSON.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import yaml
from json_page import json_page
from library_page import library_page
from mutants_page import mutants_page
from pydantic import TypeAdapter
from words import page, show_text, table

from herorun import adapter_declarations, discover, signatures
from herorun.check_index import declarations, index_file
from herorun.cli import herorun
from herorun.contract_schema import ContractSchema
from herorun.core.agent_calls import MAX_TEXT
from herorun.core.agent_tools import CONFIRM, ORDERS, PREVIEW, READS, Tool
from herorun.core.check import AtRelaunch, Check, Gate, Hold, Response, name_of
from herorun.core.contract import PLAN_TABLES, Contract, Duration
from herorun.core.docstrings import unwrap
from herorun.core.durations import format_duration
from herorun.core.environment import MACHINE, NEVER, TRAINERS
from herorun.core.exported_metrics import METRICS
from herorun.core.seal.kinds import SealKind, applies_to
from herorun.core.triage.classes import FailureClass, LineRole, RootStrength
from herorun.core.triage.signatures import LogSignature
from herorun.system.templates import template

FOLDER = Path(__file__).parent
Schema = Mapping[str, Any]


def main(argv: list[str]) -> int:
    """Write the pages, or with `--check` name the stale ones and return 1."""
    pages = {
        "checks.md": checks_page(),
        "cli.md": cli_page(),
        "contract.md": contract_page(),
        "triage.md": triage_page(),
        "json.md": json_page(),
        "library.md": library_page(),
        "metrics.md": metrics_page(),
        "agents.md": agents_page(),
        "mutants.md": mutants_page(),
    }
    files = {f"docs/{name}": (FOLDER / name, text) for name, text in pages.items()}
    files["checks/health_index.json"] = index_file(), health_index()
    files["signatures/shipped.json"] = signatures.SHIPPED_FILE, signatures.shipped_json()
    stale = [name for name, (path, text) in files.items() if read(path) != text]
    if "--check" in argv:
        for name in stale:
            print(f"{name} is stale: run `make docs` and commit it.", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        path, text = files[name]
        path.write_text(text, encoding="utf-8")
        print(f"wrote {name}")
    return 0


def health_index() -> str:
    """What each health check declares, a line each: `herorun.core.check_index` reads it."""
    stems = discover.module_names(f"herorun.checks.{Gate.HEALTH}")
    lines = [
        f"{json.dumps(name)}: {json.dumps(declaration)}"
        for name, declaration in declarations(stems, discover.own_checks).items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


# --- checks.md ------------------------------------------------------------------------------------

QUESTIONS = {
    Gate.LAUNCH: (
        "may it start? Evaluated by `herorun preflight` and `herorun launch`; an open finding of a "
        "check with the response `block` blocks the launch."
    ),
    Gate.CHECKIN: (
        "is what runs what was admitted? Evaluated by `herorun.check_in()` inside the job; a "
        "difference ends it."
    ),
    Gate.HEALTH: (
        "may it continue? Evaluated by `herorun babysit` at every tick; it notifies, relaunches, "
        "escalates or stops."
    ),
    Gate.SEAL: "is it done? Evaluated by `herorun seal`; an open finding prevents the tag.",
}
TITLES = {Gate.CHECKIN: "Check-in"}
RELAUNCH = {
    AtRelaunch.SKIP: "",
    AtRelaunch.WARN: ("Also checked at a relaunch: a failure blocks it, an unknown only warns."),
    AtRelaunch.BLOCK: ("Also checked at a relaunch: a failure or an unknown blocks it."),
}


def checks_page() -> str:
    return page(
        "Checks", "the checks themselves", [CHECKS_INTRO, *(gate_part(gate) for gate in Gate)]
    )


CHECKS_INTRO = """\
Every check is one question, evaluated at one of the four gates (see [concepts](concepts.md)).
`herorun explain NAME` prints its page in the terminal, and a [waiver](concepts.md#waivers) names it.
Thresholds are set in the contract, under `[babysit.thresholds.NAME]`.

A check's *response* says what an open finding leads to:

- `info`, `warn`: a report.
- `block`: at the launch gate no launch, at the seal gate no tag.
- `refuse`: the job ends at check-in, before it trains.
- `escalate`: a question to the DRI.
- `relaunch`: the next instance, if the contract and the launch gate allow it.

In addition, an alert of a check that `[babysit] stop_on` names stops the job.

A *hold* is how long a failure must last before its alert fires: a time, a number of ticks, or both."""  # noqa: E501  # a text that is read as it stands


def gate_part(gate: Gate) -> str:
    gate_checks = sorted(discover.checks(gate), key=lambda check: check.name)
    head = ("check", "problem", "evidence", "response", "hold")
    rows = [
        (
            f"[{check.name}](#{anchor(check)})",
            check.problem,
            ", ".join(name_of(need) for need in check.needs),
            check.response.value,
            hold_words(check.hold),
        )
        for check in gate_checks
    ]
    parts = [
        f"## {TITLES.get(gate, gate.name.capitalize())}",
        f"The question: {QUESTIONS[gate]}",
        table(head, rows),
    ]
    parts += [SEALS, seal_table(gate_checks)] if gate is Gate.SEAL else []
    return "\n\n".join([*parts, *(check_part(check) for check in gate_checks)])


SEALS = """\
There are four kinds of seal: `final`; `milestone` (`--milestone NAME`), after which the run and its babysitter continue;
`aborted` (`--aborted`); and `superseded` (`--superseded-by RUN`). The checks of each kind:"""  # noqa: E501  # a text that is read as it stands


def seal_table(gate_checks: Iterable[Check]) -> str:
    rows = [
        (check.name, *("yes" if applies_to(check.name, kind) else "" for kind in SealKind))
        for check in gate_checks
    ]
    return table(("check", *SealKind), rows)


def anchor(check: Check) -> str:
    """Where its heading is linked to: of headings with one name, the later ones are numbered."""
    gates = list(Gate)
    before = [
        c
        for c in discover.checks()
        if c.name == check.name and gates.index(c.gate) < gates.index(check.gate)
    ]
    return f"{check.name}-{len(before)}" if before else check.name


def hold_words(hold: Hold) -> str:
    """How long a finding stays open before it fires."""
    terms = [format_duration(hold.duration)] if hold.duration else []
    terms += [f"{hold.ticks} ticks"] if hold.ticks > 1 else []
    terms += [f"{hold.steps} steps"] if hold.steps else []
    return ", ".join(terms) or "none"


def check_part(check: Check) -> str:
    body = check.doc.partition("\n")[2].strip()
    for word in ("Why", "Fix", "Source"):
        body = body.replace(f"{word}: ", f"\n**{word}**: ", 1) if f"{word}: " in body else body
    parts = [f"### {check.name}", show_text(check.problem), facts(check), show_text(body.strip())]
    if check.response is not Response.INFO:  # a list never fails
        parts.append(RELAUNCH[check.at_relaunch])
    if check.always:
        parts.append("It blocks in every `[policy] mode`.")
    if check.vetoes_relaunch:
        parts.append("While it fires, nothing is relaunched.")
    if check.inhibited_by:
        others = " or ".join(f"[{name}](#{name})" for name in check.inhibited_by)
        parts.append(f"It sends no message while {others} fires for the same subject.")
    if check.limits is not None:
        parts += [limits_words(check.limits), limits_table(check.limits)]
    return "\n\n".join(part for part in parts if part)


def facts(check: Check) -> str:
    """In one line, for who comes by a link: the gate, the response, the evidence, the hold."""
    hold = f"; hold {hold_words(check.hold)}" if check.hold != Hold() else ""
    needs = ", ".join(f"`{name_of(need)}`" for need in check.needs)
    return f"Gate {check.gate.value}; response {check.response.value}{hold}; evidence {needs}."


def limits_words(limits: type[Any]) -> str:
    """What the author wrote about them, and not what `dataclass` makes up."""
    doc = unwrap(cleandoc(limits.__doc__ or ""))
    return "" if doc.startswith("Limits(") else doc


def limits_table(limits: type[Any]) -> str:
    shape = TypeAdapter(limits).json_schema(schema_generator=ContractSchema)
    durations = {field.name for field in fields(limits) if field.type is timedelta}
    rows = [
        (f"`{name}`", "duration" if name in durations else kind(schema, {}), default_words(schema))
        for name, schema in shape["properties"].items()
    ]
    return table(("threshold", "type", "default"), rows)


# --- metrics.md -----------------------------------------------------------------------------------

METRICS_INTRO = """\
`herorun metrics` exposes the runs of a repository to Prometheus; it needs the extra `metrics` ([install](../README.md#install)).
Everything comes from the records and from files of this machine's babysitters, so run it where they run; a scrape queries no scheduler, tracker, store or remote.

```sh
herorun metrics --listen 127.0.0.1:9477                        # a target for Prometheus
herorun metrics --textfile /var/lib/node_exporter/herorun.prom # for node_exporter, from cron
herorun metrics grug                                           # print one run
```

```yaml
# prometheus.yml
rule_files: [alerts.yml]            # a copy of templates/prometheus/alerts.yml
scrape_configs:
  - job_name: herorun
    scrape_interval: 30s
    static_configs: [{targets: ["127.0.0.1:9477"]}]
```

`templates/prometheus/dashboard.json` is a Grafana dashboard: import it and choose the data source.
There is no password and no TLS: keep the port on loopback, or put a proxy in front of it.
On loopback it answers only requests for `localhost`, `127.0.0.1` or `[::1]`, so that a web page in a browser on that machine cannot read the metrics (DNS rebinding).

An unknown value has no sample, and a run whose last tick is older than two cadences has the state `unknown`.
Times are timestamps: an age is `time() - herorun_last_tick_timestamp_seconds`.
herorun's labels have few values: run, check, severity and fixed words ([states](json.md#status)); never a metric's name, a host or a message.
The label `instance` in the rules below is Prometheus' own: the exporter's address.
`bound="least"` and `bound="most"` enclose a value that is partly unknown."""  # noqa: E501  # a text that is read as it stands

METRICS_OTLP = """\
## OpenTelemetry

The OpenTelemetry Collector reads the same address with its Prometheus receiver and passes the metrics on by OTLP, under the same names:

```yaml
# otelcol.yaml
receivers:
  prometheus:
    config:
      scrape_configs:
        - job_name: herorun
          static_configs: [{targets: ["127.0.0.1:9477"]}]
exporters:
  otlphttp: {endpoint: "https://otel.example.org"}
service:
  pipelines:
    metrics: {receivers: [prometheus], exporters: [otlphttp]}
```"""  # noqa: E501  # a text that is read as it stands


def metrics_page() -> str:
    """The exported metrics, and the shipped rules."""
    rows = [
        (f"`{m.name}`", m.kind, ", ".join(f"`{name}`" for name in ("run", *m.labels)), m.help)
        for m in METRICS
    ]
    rules = yaml.safe_load(template("prometheus/alerts.yml"))["groups"][0]["rules"]
    shown_rules = [
        (f"`{rule['alert']}`", rule["for"], f"`{' '.join(rule['expr'].split())}`") for rule in rules
    ]
    parts = [
        METRICS_INTRO,
        "## Metrics",
        table(("metric", "type", "labels", "meaning"), rows),
        "## Alert rules",
        table(("alert", "after", "fires when"), shown_rules),
        METRICS_OTLP,
    ]
    return page("Metrics", "the exported metrics and the shipped alert rules", parts)


# --- agents.md ------------------------------------------------------------------------------------

AGENTS_INTRO = """\
An agent uses herorun through its command line, as the skill in `templates/SKILL.md` says, or through `herorun mcp`, a server of the Model Context Protocol, which needs the extra `mcp` ([install](../README.md#install)).

A client starts the server and uses its standard input and output:

```json
{"mcpServers": {"herorun": {"command": "herorun", "args": ["-C", "/path/to/repository", "mcp"]}}}
```

Pass on the environment variables that your commands need: clients give a server few of them.
With `--read-only` there are no orders.
For a client that cannot start programs, serve streamable HTTP, on loopback addresses only; each request needs the token as `Authorization: Bearer`:

```sh
HERORUN_MCP_TOKEN=... herorun mcp --listen 127.0.0.1:9478
```

## What an agent may do

Each tool is one command and returns its `--json` document, read at that moment.
An order takes two calls.
`{preview}` shows what the order would do, and returns a digest of the order and of the state that it depends on.
`{confirm}` with that digest reads the run again and gives the order once, if that state has not changed; a digest is valid for 15 minutes.
The order is then the command itself, with the same launch checks, approvals, lease and record, and a note that an agent gave it through herorun mcp.
Let your client ask a person before `{confirm}`: it is the only tool that changes anything.

`approve`, `deny`, `waive`, `trust` and `checkpoints prune` are not offered, because only a person may decide them.
No tool reads a file that the agent names: `triage_run` takes the name of a run.

## Untrusted text

Logs, metric names, host names, issues and notes are written by others, and may try to instruct the agent.
An answer has two parts: herorun's own words (exit code, states, verdicts) and `untrusted_data`, which holds the document and the messages.
In the text form, two markers with a random number enclose the untrusted part.
Invisible characters are shown by their code, texts are cut to their newest {most:,} characters, and findings that passed are left out.
This lowers the risk but does not remove it: have a person agree to each `{confirm}`."""  # noqa: E501  # a text that is read as it stands


def agents_page() -> str:
    """The tools of `herorun mcp`."""
    intro = AGENTS_INTRO
    for name, value in (("preview", PREVIEW), ("confirm", CONFIRM), ("most:,", f"{MAX_TEXT:,}")):
        intro = intro.replace(f"{{{name}}}", value)
    parts = [
        intro,
        "## Tools that read",
        table(("tool", "command", "arguments", "answers"), (tool_row(tool) for tool in READS)),
        "## Orders",
        table(("order", "command", "arguments", "does"), (tool_row(tool) for tool in ORDERS)),
    ]
    return page("Agents", "the tools of `herorun mcp`", parts)


def tool_row(tool: Tool) -> tuple[str, ...]:
    names = [f"`{p.name}`" if p.required else f"[`{p.name}`]" for p in tool.parameters]
    return f"`{tool.name}`", f"`herorun {tool.command}`", ", ".join(names), tool.help


# --- cli.md ---------------------------------------------------------------------------------------

CLI_INTRO = """\
RUN is a slug, which names `runs/<slug>.toml`, or a path.
`--json` prints one document, with `"schema": 1`, to standard output; messages go to standard error.
If the command fails, the document holds `error` and `exit_code`.

| exit code | meaning |
| --- | --- |
| 0 | clear |
| 1 | blocked, a firing critical alert, or a fault found |
| 2 | wrong use, or a bad contract |
| 3 | unknown: evidence could not be read, or the monitor is not fresh |
| 130 | interrupted |"""


def cli_page() -> str:
    return page(
        "Commands", "the commands' help", [CLI_INTRO, *command_parts(herorun, "herorun", None)]
    )


def command_parts(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    """A command and its subcommands, each with its help as an 80-column terminal shows it."""
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=80, **command.context_settings
    )
    lines = [line.rstrip() for line in command.get_help(context).splitlines()]
    yield f"## {context.command_path}\n\n```text\n" + "\n".join(lines) + "\n```"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            subcommand = command.get_command(context, child)
            assert subcommand is not None
            if subcommand.hidden:
                continue
            yield from command_parts(subcommand, child, context)


# --- contract.md ----------------------------------------------------------------------------------

CONTRACT_INTRO = """\
A run's contract is `runs/<slug>.toml`.
`herorun init` writes one to fill in, and `herorun schema` prints its JSON Schema, for editors.
Unknown keys are errors.
A duration is written like `"570s"`, `"15m"`, `"1.5h"` or `"2d"`."""
DURATION = TypeAdapter(Duration).json_schema()["pattern"]
PORTS = {"tracker": "trackers", "scheduler": "schedulers"}


def contract_page() -> str:
    schema = Contract.model_json_schema(by_alias=True, schema_generator=ContractSchema)
    return page(
        "The contract file", "herorun.core.contract", [CONTRACT_INTRO, *contract_parts(schema)]
    )


def contract_parts(schema: Schema) -> Iterator[str]:
    defs, properties = schema["$defs"], schema["properties"]
    tables = {name: table for name, part in properties.items() if (table := table_of(part, defs))}
    plain = {name: schema for name, schema in properties.items() if name not in tables}
    yield f"## The file itself\n\n{keys_table(plain, schema, defs)}"
    for name, shape in tables.items():
        many = properties[name].get("type") == "array"
        yield from table_parts(f"[[{name}]]" if many else f"[{name}]", name, shape, defs)


def table_parts(title: str, name: str, shape: Schema, defs: Schema) -> Iterator[str]:
    """One table of the file, then the tables inside it and what its adapters add."""
    inside = {
        key: table for key, part in shape["properties"].items() if (table := table_of(part, defs))
    }
    plain = {key: schema for key, schema in shape["properties"].items() if key not in inside}
    plain.pop("thresholds", None)
    names_note = (
        "It enters the plan: changing it changes the plan's digest." if name in PLAN_TABLES else ""
    )
    words = " ".join(part for part in (shape.get("description", "").strip(), names_note) if part)
    yield "\n\n".join(
        part for part in (f"## `{title}`", words, keys_table(plain, shape, defs)) if part
    )
    if name == "command":
        yield f"### The environment\n\n{environment_words()}"
    for key, table in inside.items():
        many = shape["properties"][key].get("type") == "array"
        heading = f"[[{name}.{key}]]" if many else f"[{name}.{key}]"
        yield f"### `{heading}`\n\n{keys_table(table['properties'], table, defs)}"
    if name == "babysit":
        yield f"### `[babysit.thresholds.NAME]`\n\n{THRESHOLDS}"
    if name in PORTS:
        yield from adapter_parts(name)


def environment_words() -> str:
    """The three lists of `core.environment`."""
    lists = (
        ("In the plan, because trainers read them", TRAINERS),
        ("Never taken from the shell, because they belong to one process or image", NEVER),
        ("Passed on by `local` and `nel`, and not part of the plan", MACHINE),
    )
    lines = [f"- {words}: {', '.join(f'`{glob}`' for glob in globs)}." for words, globs in lists]
    return "\n".join(["What happens to variables of the launching shell:", "", *lines])


THRESHOLDS = "The thresholds of one check; [checks](checks.md) lists them with their defaults."


def adapter_parts(name: str) -> Iterator[str]:
    for adapter, options in adapter_declarations.adapter_options(PORTS[name]).items():
        shape = options.model_json_schema(schema_generator=ContractSchema)
        keys = keys_table(shape.get("properties", {}), shape, shape.get("$defs", {}))
        yield f'### `[{name}]` with `kind = "{adapter}"`\n\n{keys}'


def table_of(schema: Schema, defs: Schema) -> Schema | None:
    """The table that a key holds, alone or as a list; None for a plain value."""
    entry = schema["items"] if schema.get("type") == "array" else schema
    shape: Schema = defs[entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry
    return shape if "properties" in shape else None


def keys_table(properties: Schema, shape: Schema, defs: Schema) -> str:
    required_keys = shape.get("required", [])
    rows = [
        (
            f"`{name}`",
            kind(schema, defs),
            "required" if name in required_keys else default_words(schema),
            schema.get("description", ""),
        )
        for name, schema in properties.items()
    ]
    return table(("key", "type", "default", "meaning"), rows)


def kind(schema: Schema, defs: Schema) -> str:
    """A type in words."""
    if "$ref" in schema:
        return kind(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        return either([kind(part, defs) for part in schema["anyOf"] if part.get("type") != "null"])
    if "const" in schema or "enum" in schema:
        return either([f"`{toml(value)}`" for value in schema.get("enum", [schema.get("const")])])
    match schema.get("type"):
        case "array":
            return f"list of {kind(schema['items'], defs)}s"
        case "object" if schema["additionalProperties"] is True:
            return "table"
        case "object":
            return f"table of {kind(schema['additionalProperties'], defs)}" + (
                "s" if simple(schema) else ""
            )
        case "boolean":
            return "`true` or `false`"
        case "string" if schema.get("pattern") == DURATION:
            return "duration"
        case "string" if schema.get("format") == "date-time":
            return "date and time, with a zone"
    return f"{schema.get('type')}{bound_words(schema)}"


def simple(schema: Schema) -> bool:
    return "type" in schema["additionalProperties"]


def either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if words[:-1] else words)


def bound_words(schema: Schema) -> str:
    if "exclusiveMinimum" in schema:
        return f" above {schema['exclusiveMinimum']:g}"
    return f" from {schema['minimum']:g}" if "minimum" in schema else ""


def default_words(schema: Schema) -> str:
    return "none" if schema.get("default") is None else f"`{toml(schema['default'])}`"


def toml(value: Any) -> str:
    """A value as the file writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case list() | tuple():
            return f"[{', '.join(toml(item) for item in value)}]"
        case dict():
            return (
                "{}"
                if not value
                else "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
            )
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- triage.md ------------------------------------------------------------------------------------

TRIAGE_INTRO = """\
`herorun triage FILE...` reports the class of a log's failure, the line of its root cause, and what to do.
`herorun triage [RUN]` reports why the newest instance of a run ended, from its log, its scheduler, its store and its disks.
The babysitter, `status`, the report and the issue show the same diagnosis.

The tables below have one row for each *signature*, a pattern of a line.
Its *role* says how a line that matches counts:

- `restart`: a new attempt begins.
  Only the newest attempt of a log counts.
- `root`: the line can be the root cause.
  The strongest one is reported (`cause`, then `bug`, `symptom`, `faint`; `cause` if the table names no strength), and among equals the earliest.
- `cascade`: the line follows from a root cause, perhaps in another log.
  If the log has no root, and its exit code is not in the table at the end, the class is `unknown`.
- `confirmation`: the line means nothing alone, but explains a faint root.
- `benign`: the line looks like a failure and is none.
- `loading`: the line says where the training begins, which `wrong-resume` compares with the plan.
  If the log has no failure, such a line is reported unless it says that the trainer resumed.
- `advice`: the line is a tool's general advice, and is ignored.
- `progress`: what failed before was retried with success or skipped, so it is not the root cause.
- `suspect`: the line looks like an error, and no other row explains it.
  If the log has no root and no cascade, the class is `unknown`; it has no fingerprint.
- `success`: the trainer or the launcher reports a normal end, which cancels an earlier `suspect`; the end of one process or job of several cancels none.

Rules for all of them:

- A root after which the training continued for many steps is not reported, unless its strength is `cause` or its class is `numeric`.
- An exception that no row matches is a bug of the program; the innermost frame is reported.
  Its class is `code-bug-small` for a type such as `KeyError` or `ImportError`, and for one such as `TypeError` or `ValueError` if all of the user's frames are in one file; otherwise it is `code-bug-complex`.
- A log without a failure is `benign` if its exit code is 0, if a `success` row reports a normal end, or if its last 8 KiB show training: a step above 0, a measurement with its step, or a measurement that changes.
  Otherwise it is `unknown`.
- The job of a FILE to which nothing was written for an hour may hang, so steps alone do not count: the log needs its exit code, its last step (`step 500/500`), or a `success` row that at most 20 steps follow.
- With exit code 0, what looks like an error at the end is `not-a-failure`, and shown.
- Text after words such as "this might be caused by" is a tool's guess and is ignored.
  So is source code that a log prints.
- `Killed` and exit code 137 are `unknown`, unless there is also an `oom_kill`, a peak at the limit or a preemption.
- The fingerprint is the same for every rank, node and attempt, and differs between failures.

## Signatures of your own

`[babysit] signatures = "ops/signatures.toml"` in the contract, or `herorun triage --signatures FILE`, adds rows.
They are tested before the built-in ones, and a row with the `id` of a built-in one replaces it:

```toml
[[signature]]
id = "flux"                        # a name
class = "data"                     # one of the classes below
role = "root"                      # one of the roles above
strength = "cause"                 # with the role root: cause (the default), bug, symptom or faint
keywords = ["flux capacitor"]      # the line must contain one of them, in upper or lower case; each needs three characters in a row that are no digits; `|` at an end is a word boundary
pattern = "flux capacitor .* broke"  # a regular expression of Python; it ignores upper and lower case
person = true                      # whether a person may be needed; false by default
advice = "Fix it."
source = "the flux driver"         # optional
printed_by = "flux-driver"         # optional: a Python package; preflight then tests whether the installed one still contains a keyword
# loads = "scratch"                # with the role loading: scratch, none, older, weights, part or resumed
due_mib = 64                       # optional: a line of this kind must come within so many MiB of a running job's log, or it is reported
```"""  # noqa: E501  # a text that is read as it stands


def triage_page() -> str:
    signature_set = signatures.load_signature_set()
    groups = [
        (kind, [s for s in signature_set.signatures if s.failure is kind]) for kind in FailureClass
    ]
    parts = [class_part(kind, rows) for kind, rows in groups if rows]
    codes = [
        (str(row.code), row.failure.value, row.advice) for row in signature_set.exit_codes.values()
    ]
    ends = "## Exit codes\n\nThe meaning of an exit code, if the log shows no cause.\n\n"
    ends += table(("exit code", "class", "advice"), codes)
    return page(
        "Failures in logs", "the rows in src/herorun/signatures", [TRIAGE_INTRO, *parts, ends]
    )


def class_part(kind: FailureClass, class_signatures: list[LogSignature]) -> str:
    rows = [
        (
            f"`{s.id}`",
            strength_words(s),
            ", ".join(f"`{k}`" for k in s.keywords),
            s.advice,
            s.source,
        )
        for s in class_signatures
    ]
    return f"## {kind}\n\n" + table(("signature", "role", "keywords", "advice", "source"), rows)


def strength_words(signature: LogSignature) -> str:
    plain = signature.role is not LineRole.ROOT or signature.strength is RootStrength.CAUSE
    role = signature.role.value + ("" if plain else f", {signature.strength.name.lower()}")
    return role + ("; a person may be needed" if signature.person else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
