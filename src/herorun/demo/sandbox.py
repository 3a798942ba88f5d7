"""The scratch folder of the demo, and the commands that run in it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from herorun.core.errors import Blocked, CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.runs import Run, open_run

SLUG = "tiny-lm"
PATIENCE = 90.0  # seconds that each wait may take
WIDTH = 80  # columns of a title


@dataclass
class Sandbox:
    """The scratch folder that everything happens in."""

    folder: Path
    quiet: bool
    colour: bool
    scheduler: str = "local"
    address: str = ""  # of the cluster, where the scheduler is one
    began: float = field(default_factory=time.monotonic)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def run(self) -> Run:
        return open_run(SLUG, self.work)

    def show(self, text: str, style: str = "1") -> None:
        if not self.quiet:
            print(f"\033[{style}m{text}\033[0m" if self.colour else text, flush=True)

    def show_heading(self, text: str) -> None:
        from textwrap import fill

        title = fill(text, WIDTH, initial_indent="# ", subsequent_indent="# ")
        self.show(f"\n{title}", "1;36")

    def do(self, *argv: str, expect: Sequence[int] = (0,), within: Path | None = None) -> None:
        """Print a command, run it, and stop the demo if its exit code is not expected."""
        self.show("$ " + " ".join(quote_argument(part) for part in argv))
        real = [sys.executable, "-m", "herorun", *argv[1:]] if argv[0] == "herorun" else list(argv)
        child = subprocess.run(
            real,
            cwd=within or self.work,
            env=_make_environment(),
            stdout=subprocess.DEVNULL if self.quiet else None,
            stderr=subprocess.DEVNULL if self.quiet else None,
            timeout=PATIENCE,
            check=False,
        )
        if child.returncode not in expect:
            raise Blocked(
                f"`{' '.join(argv)}` ended with exit code {child.returncode}: the demo stops. Its "
                f"files are in {self.folder}."
            )
        if child.returncode:
            self.show(f"(exit code {child.returncode}, as expected)", "2")

    def configure(self, key: str, value: str) -> None:
        """Set git's configuration of the scratch repository alone, without printing it."""
        subprocess.run(
            ["git", "config", key, value], cwd=self.work, env=_make_environment(), check=True
        )

    def wait(self, what: str, until: Callable[[], bool]) -> None:
        self.show(f"... waiting until {what}", "2")
        end = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > end:
                raise CouldNotLook(
                    f"The demo waited {PATIENCE:g}s until {what}, which did not happen. Its files "
                    f"are in {self.folder}."
                )
            time.sleep(0.2)


def _make_environment() -> dict[str, str]:
    """`python` is the interpreter that herorun runs in; git's own variables point nowhere else."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environment | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    }


def quote_argument(part: str) -> str:
    """As it is typed in a shell; a text of several lines is left out."""
    import shlex

    return shlex.quote(part) if "\n" not in part else "..."
