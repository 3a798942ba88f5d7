"""The runs' metrics for Prometheus, from data on this machine: the records, and the files of the
babysitters. No scrape queries a scheduler, tracker, store or remote.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.core.evidence import LeaseSeen
from herorun.core.exported_metrics import METRICS, RunReading, Sample, samples
from herorun.core.extras import how_to_install
from herorun.core.goodput.totals import GoodputTotals
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.run_summary import RunSummary
from herorun.operations.babysit.batch import each
from herorun.operations.report.goodput import stored_account
from herorun.operations.report.overview import last_evidence, stored_summary
from herorun.runs import Run, known_slugs, open_run
from herorun.system.clock import now
from herorun.system.files import is_locked
from herorun.system.git import find_repository
from herorun.system.page_server import page_server

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

PATH = "/metrics"
EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"  # the type of Prometheus's text format
FRESH = 5.0  # seconds for which one reading is used for all scrapes
ACCOUNT = 300.0  # seconds for which goodput and cost are reused: they need every line and row


class RunExporter:
    """Reads the runs of one repository: the named ones, or all."""

    def __init__(self, start: Path, names: Sequence[str] = ()) -> None:
        self._start, self._names = start, names
        self._one_at_a_time = threading.Lock()
        self._read_at = -FRESH
        self._samples: list[Sample] = []
        self.errors: dict[str, str] = {}  # by run: why it could not be read
        self._accounts: dict[str, tuple[float, GoodputTotals | None]] = {}

    def samples(self) -> Sequence[Sample]:
        """The samples, at most `FRESH` seconds old."""
        with self._one_at_a_time:
            if time.monotonic() - self._read_at >= FRESH:
                readings = self._readings()
                summaries = [reading.summary for reading in readings]
                self._samples = list(samples(readings, now()))
                self.errors = {each.slug: each.error for each in summaries if each.error}
                self._read_at = time.monotonic()
            return self._samples

    def collect(self) -> Iterator[Any]:
        """The interface that prometheus-client calls."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        families = {}
        for metric in METRICS:
            family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            families[metric.name] = family(metric.name, metric.help, labels=("run", *metric.labels))
        for sample in self.samples():
            families[sample.metric].add_metric((sample.run, *sample.labels), sample.value)
        yield from families.values()

    def _readings(self) -> list[RunReading]:
        names = self._names or list(known_slugs(find_repository(self._start)))
        answers = each(names, lambda name: self._reading(open_run(name, self._start)))
        return [
            answer.value
            or RunReading(summary=RunSummary(slug=answer.slug, stage="unknown", error=answer.error))
            for answer in answers
        ]

    def _reading(self, run: Run) -> RunReading:
        folded_memory = run.record.folded_memory()
        memory, decision = folded_memory.memory, folded_memory.memory.last_decided
        lease = last_evidence(run, decision.at).get(LeaseSeen) if decision else None
        return RunReading(
            summary=stored_summary(run, memory, _unseen_is_unknown),
            memory=memory,
            cadence=run.contract.babysit.cadence,
            running=is_locked(run.lock("babysitter")),
            lines=folded_memory.lines,
            unpushed=run.record.unpushed_lines,
            lease_held=lease.mine if isinstance(lease, LeaseSeen) else None,
            goodput=self._account(run, memory),
        )

    def _account(self, run: Run, memory: Memory) -> GoodputTotals | None:
        made_at, account = self._accounts.get(run.slug, (-ACCOUNT, None))
        if memory.instances and time.monotonic() - made_at >= ACCOUNT:
            try:
                account = stored_account(run)
            except (HerorunError, OSError):  # the rest is still exported
                account = None
            self._accounts[run.slug] = time.monotonic(), account
        return account


def _unseen_is_unknown(state: tuple[str, str]) -> tuple[str, str]:
    """The state of a run that was read too long ago: unknown. One that was down stays that, because
    a launch would be in the record.
    """
    is_unknown = state[1] == "stale" and state[0] != RunHealth.DOWN
    return (RunHealth.UNKNOWN.value, "stale") if is_unknown else state


def registry_of(exporter: RunExporter) -> "CollectorRegistry":
    """A registry with these metrics only. `CouldNotLook` without the package."""
    try:
        from prometheus_client import CollectorRegistry
    except ImportError:
        raise CouldNotLook(
            f"The metrics need the package prometheus-client: {how_to_install('metrics')}."
        ) from None
    registry = CollectorRegistry()
    registry.register(exporter)
    return registry


def exposition(exporter: RunExporter) -> str:
    """All metrics in Prometheus's text format."""
    registry = registry_of(exporter)
    from prometheus_client import generate_latest

    return generate_latest(registry).decode()


def write_textfile(exporter: RunExporter, path: Path) -> None:
    """Write the file for node_exporter's textfile collector, atomically."""
    registry = registry_of(exporter)
    from prometheus_client import write_to_textfile

    write_to_textfile(str(path), registry)


def serve(exporter: RunExporter, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Answer scrapes until interrupted; `ready` gets the URL. OSError if nothing can listen
    there.
    """
    registry_of(exporter)  # raises early without the package

    def page(path: str) -> tuple[int, str]:
        if path != PATH:
            return 404, f"The metrics are at {PATH}.\n"
        return 200, exposition(exporter)

    server = page_server(page, host, port, kind=EXPOSITION)
    try:
        name = f"[{host}]" if ":" in host else host
        ready(f"http://{name}:{server.server_port}{PATH}")
        server.serve_forever()
    finally:
        server.server_close()
