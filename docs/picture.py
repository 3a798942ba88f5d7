"""Export the README's picture: a preflight that is really blocked, in the demo's scratch
repository.

Run `python docs/picture.py`; it writes docs/preflight-blocked.svg.
"""

import io
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from herorun.demo import Sandbox, block_the_gate, set_the_stage
from herorun.operations.launch.preflight import preflight
from herorun.output.preflight import show_preflight

TARGET = Path(__file__).with_name("preflight-blocked.svg")
# in place of the folder's name, and as long: each line's width is in the picture
DEMO_FOLDER = "herorun-the-demo"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="herorun-") as scratch:
        programs = Path(scratch) / "bin"  # the picture names no folder of a person
        programs.mkdir()
        (programs / "python").symlink_to(sys.executable)
        os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        stage = Sandbox(Path(scratch), quiet=True, colour=False)
        set_the_stage(stage)
        block_the_gate(stage)
        page = Console(
            record=True,
            width=88,
            force_terminal=True,
            highlight=False,
            markup=False,
            file=io.StringIO(),
        )
        page.print("$ herorun preflight tiny-lm", style="bold")
        show_preflight(page, "tiny-lm", preflight(stage.run), again="herorun preflight tiny-lm")
        svg = page.export_svg(title="herorun preflight").replace(Path(scratch).name, DEMO_FOLDER)
    # No font from elsewhere: a README's picture must load from this repository alone.
    own = re.sub(r"@font-face \{.*?\}\n|<!-- Generated.*?-->", "", svg, flags=re.DOTALL)
    TARGET.write_text(own, encoding="utf-8")


if __name__ == "__main__":
    main()
