"""Which variables a file reads of its environment."""

import pytest

from herorun.core.code.environment_reads import environment_reads

PYTHON = {
    'import os\nos.environ["PACK"]': ["PACK"],
    'import os\nos.environ.get("PACK", "8")': ["PACK"],
    'import os\nos.getenv("PACK")': ["PACK"],
    'import os as o\no.getenv("PACK") or o.environ["LR"]': ["PACK", "LR"],
    'from os import environ, getenv\nenviron["PACK"], getenv("LR")': ["PACK", "LR"],
    'from os import environ as e, getenv as g\ne.get("PACK"), g("LR")': ["PACK", "LR"],
    'import os\nenv = os.environ\nenv["PACK"]': ["PACK"],
    'import os\nenv = dict(os.environ)\nenv.get("PACK")': ["PACK"],
    'import os\nenv: dict = os.environ.copy()\nenv["PACK"]': ["PACK"],
    'import os\nif "PACK" in os.environ: pass': ["PACK"],
    'import os\nos.environ.setdefault("PACK", "8")': ["PACK"],
    'import os\nos.environb[b"PACK"]': ["PACK"],
    'import os\nNAME = "PACK"\ndef f():\n    return os.environ[NAME]': ["PACK"],
    'import os\nint(os.environ["PACK"]) * 2': ["PACK"],
    'import os\nos.environ["PACK"] = "8"': [],
    'import os\ndel os.environ["PACK"]': [],
    'x = {}\nx.get("PACK"), x["PACK"]  # environ': [],
    'def getenv(name): ...\ngetenv("PACK")': [],
    "not python environ (": [],
}


@pytest.mark.parametrize(("source", "names"), PYTHON.items())
def test_python_by_its_syntax(source, names):
    assert [name for name, _ in environment_reads("train.py", source.encode()).names] == names


def test_the_line_is_reported_and_a_computed_name_too():
    reads = environment_reads("train.py", b'import os\n\nos.environ["A"]\nos.environ[f"X_{1}"]\n')

    assert (reads.names, reads.computed) == ((("A", 3),), (4,))


def test_a_script_uses_what_it_does_not_set():
    script = (
        b'# $COMMENT\nLR=1e-3\nPACK=${PACK:-8}\nfor n in 1 2; do echo "$n $LR"; done\nexec train '
        b'"$MODEL" $1 $@\n'
    )

    assert environment_reads("run.sh", script).names == (("PACK", 3), ("MODEL", 5))


@pytest.mark.parametrize(
    "text", ["seed: ${oc.env:SEED}", "seed: ${oc.env:SEED,7}", "seed: ${env:SEED}"]
)
def test_a_config_that_is_filled_in_from_the_environment(text):
    assert environment_reads("c.yaml", text.encode()).names == (("SEED", 1),)
