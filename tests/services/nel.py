"""The NeMo evaluator launcher, and what it is asked to evaluate, wherever it runs: one task on a
model that nobody serves.
"""

from pathlib import Path

_FOLDER = Path(__file__).parents[2] / ".venv-nel" / "bin"
INSTALLED = _FOLDER / "nel"
PROGRAM = (str(_FOLDER / "python"), str(Path(__file__).with_name("nel_program.py")))

EVALUATED = """\
target:
  api_endpoint:
    url: http://127.0.0.1:9/v1/chat/completions
    model_id: tiny
    api_key_name: null
evaluation:
  tasks:
    - name: lm-evaluation-harness.ifeval
"""
