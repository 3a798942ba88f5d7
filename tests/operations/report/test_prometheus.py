"""The shipped alert rules and dashboard, by the real Prometheus, promtool and Alertmanager."""

import json
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from herorun.core.exported_metrics import METRICS
from herorun.operations.report import exporter as exporting
from herorun.operations.report.exporter import RunExporter
from services.channel_servers import web_service
from services.prometheus import must_be_installed, prometheus
from stories import SLUG, STOP_COMMAND, Story, eventually

TEMPLATES = Path(__file__).parents[3] / "templates" / "prometheus"
RULES = TEMPLATES / "alerts.yml"
NAMES = {metric.name for metric in METRICS}
LABELS = {"run", "instance", *(label for metric in METRICS for label in metric.labels)}


def rules() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    return rules


def expressions() -> list[str]:
    dashboard = json.loads((TEMPLATES / "dashboard.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return [*panels, *(rule["expr"] for rule in rules())]


@pytest.mark.parametrize("expression", expressions())
def test_every_name_in_a_query_is_one_that_is_exposed(expression: str) -> None:
    assert set(re.findall(r"herorun_\w+", expression)) <= NAMES
    grouped_labels = re.findall(r"\b(?:by|on) \(([^)]*)\)", expression)
    matched_labels = re.findall(r"[{,](\w+)=", expression)
    assert {name.strip() for group in grouped_labels for name in group.split(",")} | {
        *matched_labels
    } <= LABELS


def test_what_neither_a_rule_nor_a_panel_asks_for_is_meant_to_be_so() -> None:
    """For queries of one's own."""
    names = {
        name for expression in expressions() for name in re.findall(r"herorun_\w+", expression)
    }
    assert NAMES - names == {
        "herorun_accelerator_seconds",
        "herorun_checkpoint_step",
        "herorun_instances_total",
        "herorun_lease_held",
        "herorun_lost_steps",
        "herorun_monitor_state",
        "herorun_record_lines_total",
        "herorun_ticks_total",
        "herorun_unacknowledged_alerts",
    }


CASES = {
    "HerorunMonitorStale": (
        {
            "last_tick_timestamp_seconds": "0x200",
            "cadence_seconds": "60x200",
            "babysitter_running": "0x200",
        },
        "5m",
    ),
    "HerorunFleetMemberNotTicking": (
        {
            "last_tick_timestamp_seconds": "0x200",
            "cadence_seconds": "60x200",
            "babysitter_running": "1x200",
        },
        "10m",
    ),
    "HerorunRunDown": ({'run_state{state="down"}': "1x200"}, "10m"),
    "HerorunNotTraining": (
        {"step_advanced_timestamp_seconds": "0x200", 'run_stage{stage="launched"}': "1x200"},
        "66m",
    ),
    "HerorunCriticalAlert": ({'alerts{check="nan",severity="critical"}': "1x200"}, "5m"),
    "HerorunRecordUnpushed": ({"record_unpushed_lines": "3x200"}, "60m"),
    "HerorunMessagesUndelivered": ({"undelivered_messages": "1x200"}, "30m"),
    "HerorunRunUnreadable": ({"run_readable": "0x200"}, "15m"),
    "HerorunExporterGone": ({"unrelated": "0x200"}, "5m"),
}
OVER = {  # what a run that is over, or well, shows instead: no rule fires, whatever its age
    "run_readable": "1x200",
    'run_stage{stage="sealed"}': "1x200",
    'run_state{state="finished"}': "1x200",
    'run_state{state="down"}': "0x200",
    "last_tick_timestamp_seconds": "0x200",
    "step_advanced_timestamp_seconds": "0x200",
    "cadence_seconds": "60x200",
    "babysitter_running": "0x200",
    "record_unpushed_lines": "0x200",
    "undelivered_messages": "0x200",
}


def _label_series(name: str) -> str:
    """A series of one run of one exporter."""
    metric, _, more = name.rstrip("}").partition("{")
    labels = ",".join(filter(None, ('run="grug"', 'instance="here"', more)))
    return f"herorun_{metric}{{{labels}}}"


def _case(series: dict[str, str], at: str, alert: str, fires: bool) -> dict[str, Any]:
    count = f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)'
    return {
        "interval": "1m",
        "input_series": [{"series": _label_series(k), "values": v} for k, v in series.items()],
        "promql_expr_test": [
            {"expr": count, "eval_time": at, "exp_samples": [{"labels": "{}", "value": int(fires)}]}
        ],
    }


@pytest.mark.thorough
def test_each_rule_fires_when_it_should_and_not_before_or_for_a_run_that_is_over(
    tmp_path: Path,
) -> None:
    must_be_installed()
    assert set(CASES) == {rule["alert"] for rule in rules()}
    cases = []
    for alert, (series, after) in CASES.items():
        minutes = int(after.removesuffix("m"))
        inputs = {"run_readable": "1x200"} | series if alert != "HerorunExporterGone" else series
        cases += [
            _case(inputs, f"{minutes + 2}m", alert, True),
            _case(inputs, f"{minutes - 3}m", alert, False),
            _case(OVER, "150m", alert, False),
        ]
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": cases}
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(document))
    for words in (("check", "rules", str(RULES)), ("test", "rules", str(tmp_path / "tests.yml"))):
        process = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=300)
        assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.thorough
def test_a_rule_fires_and_its_message_arrives(story: Story, tmp_path: Path) -> None:
    """A run that a person stopped is down: scraped from the real exporter, judged by the shipped
    rule without its hold, and posted by the Alertmanager.
    """
    must_be_installed()
    story.run_first_job(STOP_COMMAND)
    story.tick()
    at_once = tmp_path / "alerts.yml"
    at_once.write_text(re.sub(r"for: \w+", "for: 0s", RULES.read_text()))
    urls: list[str] = []
    exporter = RunExporter(story.work)
    threading.Thread(
        target=exporting.serve, args=(exporter, "127.0.0.1", 0, urls.append), daemon=True
    ).start()
    eventually(lambda: bool(urls))
    target = urls[0].removeprefix("http://").removesuffix("/metrics")
    with (
        web_service() as webhook,
        prometheus(tmp_path, target, at_once, f"http://{webhook.place}/alerts") as server,
    ):
        eventually(lambda: bool(_of(webhook.deliveries, "HerorunRunDown")))
        (alert,) = _of(webhook.deliveries, "HerorunRunDown")[:1]
        assert alert["labels"]["run"] == SLUG
        assert f"herorun status {SLUG}" in alert["annotations"]["description"]
        for expression in expressions():
            server.query(expression.replace("$run", ".*"))
        (step,) = server.query(f'herorun_step{{run="{SLUG}"}}')
        assert step["value"][1] == "3"


def _of(samples: list[tuple[str, Any]], name: str) -> list[dict[str, Any]]:
    return [
        alert
        for _, body in samples
        for alert in body["alerts"]
        if alert["labels"]["alertname"] == name
    ]
