"""`[tool.herorun]`: the nearest file that has it counts, and a wrong key is said with the file and
the mend.
"""

from pathlib import Path

import pytest

from herorun.core.errors import WrongUse
from herorun.system.project_config import read_settings


def project(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    top = project(tmp_path, '[tool.herorun]\nrun = "grug"\n[tool.herorun.init]\ndri = "@dri"\n')
    inner = project(tmp_path / "package" / "src", '[project]\nname = "x"\n')
    settings = read_settings(inner)
    assert (settings.run, dict(settings.init), settings.path) == (
        "grug",
        {"dri": "@dri"},
        top / "pyproject.toml",
    )


def test_nothing_above_the_repository_is_read(tmp_path: Path) -> None:
    project(tmp_path, '[tool.herorun]\nrun = "other"\n')
    (tmp_path / "work" / ".git").mkdir(parents=True)
    assert read_settings(tmp_path / "work").run == ""


WRONG = {
    "a misspelt key": ('[tool.herorun]\nrnu = "x"\n', "unknown key `rnu`. Did you mean `run`?"),
    "a key of the contract": (
        '[tool.herorun]\nscheduler = "slurm"\n',
        "contract, runs/<slug>.toml.",
    ),
    "a key that init does not know": (
        '[tool.herorun.init]\ncadence = "1m"\n',
        "unknown key `cadence`",
    ),
    "two of them": (
        '[tool.herorun]\nrnu = "x"\n[tool.herorun.init]\nrun = 7\ndir = "@a"\n',
        "\n  line 2: [tool.herorun] has an unknown key `rnu`",
        "\n  line 4: [tool.herorun.init] has an unknown key `run`",
        "\n  line 5: [tool.herorun.init] has an unknown key `dir`. Did you mean `dri`?",
    ),
    "another type": ("[tool.herorun]\nrun = 7\n", "`run` is 7, and must be text"),
    "no table": ("[tool]\nherorun = 7\n", "must be a table"),
    "no TOML": ("[tool.herorun\n", "is not valid TOML"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(tmp_path: Path, name: str) -> None:
    text, *parts = WRONG[name]
    with pytest.raises(WrongUse) as error:
        read_settings(project(tmp_path, text))
    parts.append(str(tmp_path / "pyproject.toml"))
    assert [part for part in parts if part not in str(error.value)] == []
