"""What Prometheus is told of real runs: everything that the record and the kept rows know, and
nothing good that nobody has seen.
"""

import queue
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from herorun.core.exported_metrics import METRICS
from herorun.operations.report import exporter as exporting, overview
from herorun.operations.report.exporter import RunExporter, exposition
from herorun.system.clock import now
from stories import CRASH, SLUG, WAIT, Story

CAPTURE = pytest.CaptureFixture[str]
Values = Mapping[tuple[str, ...], float]


def values(text: str) -> Values:
    """By name, run, and the values of the other labels."""
    return {
        (sample.name, sample.labels.pop("run"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def states(matches: Values, metric: str = "herorun_run_state") -> list[str]:
    return [key[2] for key, value in matches.items() if key[0] == metric and value]


def test_a_run_that_was_watched(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    story.tick()
    story.tick()
    capsys.readouterr()
    assert story.herorun("metrics") == 0
    samples = values(capsys.readouterr().out)
    assert samples["herorun_ticks_total", SLUG] == 2
    assert samples["herorun_step", SLUG] == 3
    assert samples["herorun_final_step", SLUG] == 4
    assert samples["herorun_loss", SLUG] == 2.5
    assert samples["herorun_checkpoint_step", SLUG] == 2
    assert samples["herorun_instances_total", SLUG] == 1
    assert samples["herorun_lease_held", SLUG] == 1
    assert samples["herorun_record_unpushed_lines", SLUG] == 0
    assert samples["herorun_cadence_seconds", SLUG] == 900
    assert samples["herorun_babysitter_running", SLUG] == 0
    assert abs(samples["herorun_last_tick_timestamp_seconds", SLUG] - now().timestamp()) < 60
    assert states(samples, "herorun_run_stage") == ["launched"]
    assert states(samples, "herorun_monitor_state") == ["fresh"]
    assert len(states(samples)) == 1
    assert sum(v for k, v in samples.items() if k[0] == "herorun_wall_time_seconds") > 0


def test_what_was_seen_long_ago_is_unknown(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.run_first_job(WAIT)
    story.tick()
    later = now() + timedelta(hours=2)
    monkeypatch.setattr(overview, "now", lambda: later)
    samples = values(exposition(RunExporter(story.work)))
    assert states(samples) == ["unknown"]
    assert states(samples, "herorun_monitor_state") == ["stale"]
    assert not {"herorun_steps_per_second", "herorun_remaining_seconds"} & {k[0] for k in samples}


@pytest.mark.parametrize("has_decision", [True, False])
def test_a_run_that_is_down_is_unmonitored_unless_a_person_has_decided_something(
    story: Story, monkeypatch: pytest.MonkeyPatch, has_decision: bool
) -> None:
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    story.tick()
    if has_decision:
        assert story.herorun("deny", SLUG) == 0
    later = now() + timedelta(hours=2)
    monkeypatch.setattr(overview, "now", lambda: later)
    samples = values(exposition(RunExporter(story.work)))
    assert states(samples) == ["down"]
    assert states(samples, "herorun_monitor_state") == ["fresh" if has_decision else "stale"]


def test_a_crash_its_relaunch_and_what_is_not_pushed(story: Story) -> None:
    story.run_first_job(CRASH)
    hook = story.refuse_pushes()
    story.tick()
    samples = values(exposition(RunExporter(story.work, [SLUG])))
    assert samples["herorun_instances_total", SLUG] == 2
    (cause,) = [k[2] for k in samples if k[0] == "herorun_relaunches_total"]
    assert cause == "unknown"
    assert samples["herorun_record_unpushed_lines", SLUG] > 0
    hook.unlink()


def test_a_run_that_cannot_be_read_hides_no_other(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    story.tick()
    (story.work / "runs" / "tiny.toml").write_text("slug = [")
    capsys.readouterr()
    assert story.herorun("metrics") == 3
    samples = values(capsys.readouterr().out)
    assert samples["herorun_run_readable", SLUG] == 0
    assert states(samples) == ["unknown"]


def test_every_metric_is_described_once_with_its_unit() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert re.fullmatch(r"herorun(_[a-z]+)+", metric.name)
        assert metric.help.endswith(".")


def test_it_is_served_and_no_scrape_asks_anybody(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    story.tick()
    exporter, ready, urls = RunExporter(story.work), threading.Event(), []

    def tell(url: str) -> None:
        urls.append(url)
        ready.set()

    monkeypatch.setattr("herorun.adapters.connect", _job_without_pods)
    threading.Thread(
        target=exporting.serve, args=(exporter, "127.0.0.1", 0, tell), daemon=True
    ).start()
    assert ready.wait(60)
    with urllib.request.urlopen(urls[0], timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert values(answer.read().decode())["herorun_step", SLUG] == 3
    assert status_of(urls[0].removesuffix("/metrics")) == 404
    # a page of another site, whose name was made to lead here
    assert status_of(urls[0], Host="evil.example.org") == 421


def test_an_address_of_version_6_is_a_url_that_can_be_opened(tmp_path: Path) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    urls: queue.Queue[str] = queue.Queue()
    exporter = RunExporter(tmp_path)
    threading.Thread(
        target=exporting.serve, args=(exporter, "::1", 0, urls.put), daemon=True
    ).start()
    url = urls.get(timeout=60)
    assert urlsplit(url).hostname == "::1"
    assert status_of(f"{url}/no") == 404


def status_of(url: str, **headers: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60)
    return error.value.code


def _job_without_pods(*args: object, **_: object) -> None:
    raise AssertionError(f"a scrape connected to {args}")


def test_the_text_file_is_whole_and_faults_are_named(
    story: Story, tmp_path: Path, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    story.tick()
    target = tmp_path / "herorun.prom"
    assert story.herorun("metrics", "--textfile", str(target)) == 0
    assert values(target.read_text())["herorun_step", SLUG] == 3
    assert story.herorun("metrics", "--textfile", str(tmp_path / "no" / "x.prom")) == 2
    assert story.herorun("metrics", "--listen", "127.0.0.1:nope") == 2
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
        assert story.herorun("metrics", "--listen", place) == 3
