"""A waiter that names the job on its command line is not the job."""

import subprocess
import sys
from pathlib import Path

from herorun.system import _host_processes
from stories import eventually


def test_a_script_that_looks_for_the_job_is_not_the_job_and_one_that_runs_it_has_it(
    tmp_path: Path,
) -> None:
    name = f"train_{tmp_path.name}.py"
    (tmp_path / name).write_text("import time; time.sleep(60)")
    waiter = subprocess.Popen(
        ["bash", "-c", f"while pgrep -f {name}; do sleep 0.2; done; sleep 60"]
    )
    try:
        eventually(lambda: Path(f"/proc/{waiter.pid}/cmdline").read_bytes().startswith(b"bash"))
        assert _host_processes.matching(name) == []
        script = f"{sys.executable} {tmp_path / name} | tail -f"
        job = subprocess.Popen(["bash", "-c", script])
        try:
            eventually(lambda: len(_host_processes.matching(name)) == 1)
        finally:
            subprocess.run(["pkill", "-P", str(job.pid)], check=False)
            job.kill()
            job.wait()
    finally:
        waiter.kill()
        waiter.wait()
