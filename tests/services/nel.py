"""The NeMo evaluator launcher, and what it is asked to evaluate, wherever it runs: one task on a
model that nobody serves.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / ".venv-nel" / "bin"
_PYTHON, _HERE = str(_FOLDER / "python"), Path(__file__).parent
INSTALLED_PATH = _FOLDER / "nel"

EVALUATION_CONFIG = """\
target:
  api_endpoint:
    url: http://127.0.0.1:9/v1/chat/completions
    model_id: tiny
    api_key_name: null
evaluation:
  tasks:
    - name: lm-evaluation-harness.ifeval
"""


@contextmanager
def nel_running() -> Iterator[tuple[str, ...]]:
    """The words that start nel, as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="hr-nel-") as folder:
        address = f"{folder}/socket"
        server = subprocess.Popen(
            [_PYTHON, str(_HERE / "nel_server.py"), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
        )
        try:
            assert server.stdout is not None and server.stdout.readline() == b"listening\n"
            yield (_PYTHON, "-I", "-S", str(_HERE / "nel_program.py"), address)
        finally:
            server.communicate(timeout=60)
