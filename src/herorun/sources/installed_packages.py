"""What the command's own interpreter would import: its packages, editable installs, folders of this
checkout.

The interpreter itself is queried, because herorun is usually installed in another environment. It
is started in the root folder, so that only those folders of the repository are on its path that the
job would also have.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Installed, Nothing
from herorun.core.ports import Scheduler, scheduler_traits
from herorun.system._regular_file import open_regular
from herorun.system.git import Repository
from herorun.system.process import run

ASKING = 20.0  # seconds
# Two lines of each package's header: parsing all of it as an e-mail takes twice as long.
_ASK = r"""
import importlib.metadata as m, json, re, sys
packages, editable = {}, {}
header = re.compile(r"(?im)^(name|version):[ \t]*(.*?)[ \t\r]*$")
for d in m.distributions():
    text = d.read_text("METADATA") or d.read_text("PKG-INFO") or d.read_text("") or ""
    stated = {}
    for key, value in header.findall(re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]):
        stated.setdefault(key.lower(), value)
    name = re.sub("[-_.]+", "-", stated.get("name", "")).lower()
    if not name or name in packages:
        continue
    packages[name] = stated.get("version")
    try:
        direct_url = json.loads(d.read_text("direct_url.json") or "{}")
    except ValueError:
        direct_url = {}
    if direct_url.get("dir_info", {}).get("editable"):
        editable[name] = direct_url.get("url", "")
print(json.dumps({"packages": packages, "editable": editable, "paths": sys.path}))
"""


def read_installed(
    contract: Contract, scheduler: Scheduler, repository: Repository
) -> Installed | Nothing:
    """Nothing if the job runs on another machine, or its command starts no Python that exists
    here.
    """
    if scheduler_traits(scheduler).reach != "here":
        return Nothing("the job runs elsewhere: check-in compares there")
    env = {**os.environ, **contract.command.env}
    interpreter = interpreter_of(contract.command.argv, env)
    if interpreter is None:
        return Nothing(
            f"{contract.command.argv[0]} starts no Python that can be identified from here"
        )
    answer = _ask_interpreter(interpreter, env)
    top = repository.top
    inside = tuple(path for path in answer["paths"] if path and _within(path, top))
    editable = {name: _folder(url) for name, url in answer["editable"].items()}
    return Installed(interpreter, answer["packages"], editable, inside, str(top))


def interpreter_of(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    """The Python that a command line starts: named directly, or in the first line of the named
    script.
    """
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        return None
    if Path(program).name.startswith("python"):
        return program
    with open_regular(program) as file:
        first = file.readline(512).decode("utf-8", "replace").strip()
    command = first.removeprefix("#!").split() if first.startswith("#!") else []
    interpreters = [word for word in command if Path(word).name.startswith("python")]
    return shutil.which(interpreters[0], path=env.get("PATH")) if interpreters else None


def _ask_interpreter(interpreter: str, env: Mapping[str, str]) -> dict[str, Any]:
    answer = run((interpreter, "-c", _ASK), ASKING, cwd="/", env=env)
    if answer.code:
        raise CouldNotLook(f"{interpreter} could not say what is installed: {answer.complaint}")
    try:
        document = json.loads(answer.out)
        return {name: document[name] for name in ("packages", "editable", "paths")}
    except (ValueError, LookupError, TypeError):
        raise CouldNotLook(f"{interpreter} gave no answer about what is installed.") from None


def _folder(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def _within(path: str, top: Path) -> bool:
    """Whether the path is in the checkout; a virtual environment inside it does not count."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(top)):
        return False
    inside = real.relative_to(os.path.realpath(top)).parts
    return "site-packages" not in inside and not any(part.startswith("python3") for part in inside)
