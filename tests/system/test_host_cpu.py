"""Our own use of the processors, and how many we may use."""

import time

import pytest

from herorun.system import _host_cpu


def test_what_spins_is_counted_and_a_moment_is_too_short() -> None:
    before = _host_cpu.read_cpu_seconds()
    assert _host_cpu.cores((time.monotonic(), before[1])) is None
    before, end = _host_cpu.read_cpu_seconds(), time.process_time() + 0.2
    while time.process_time() < end:
        pass
    used_cores = _host_cpu.cores(before)
    assert used_cores is not None and used_cores * (time.monotonic() - before[0]) >= 0.15


@pytest.mark.parametrize(
    ("words", "quota"),
    [(["400000", "100000"], 4.0), (["max", "100000"], None), (["-1", "100000"], None), ([], None)],
)
def test_a_quota_is_reported_in_processors(words: list[str], quota: float | None) -> None:
    assert _host_cpu._quota(words) == quota
    assert 0 < _host_cpu.count_cpus() <= 1024
