"""How much of a cgroup's memory is in use, by files like those of both kinds of cgroup."""

from pathlib import Path

import pytest

from herorun.system import _host_memory

GIB = 1 << 30


@pytest.fixture(params=["new", "old"])
def job_cgroup(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, object] | None:
    """A job's cgroup: 19 of 20 GiB, of which 12 are a data set that was read twice."""
    names = {
        "new": ("memory.current", "memory.max", "", "memory.events"),
        "old": ("memory.usage_in_bytes", "memory.limit_in_bytes", "total_", "memory.oom_control"),
    }[request.param]
    current, limit, prefix, events = names
    folder = tmp_path / "slurm" / "job_7"
    folder.mkdir(parents=True)
    (folder / current).write_text(f"{19 * GIB}\n")
    (folder / limit).write_text(f"{20 * GIB}\n")
    (folder / events).write_text("low 0\noom_kill 2\n")
    (folder / "memory.stat").write_text(
        f"{prefix}inactive_file {2 * GIB}\n{prefix}active_file {12 * GIB}\n"
    )
    (tmp_path / current).write_text(f"{30 * GIB}\n")  # the root, without a limit
    return _host_memory._nearest(str(tmp_path), "/slurm/job_7", *names)


def test_the_cache_of_files_is_not_in_use(job_cgroup: dict[str, object]) -> None:
    assert job_cgroup == {
        "used": 5 * GIB,
        "limit": 20 * GIB,
        "share": 0.25,
        "oom_kill": 2,
    }
