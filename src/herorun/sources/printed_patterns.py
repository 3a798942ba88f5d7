"""Whether the installed packages contain the text of the user's log patterns."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Installed, Nothing, PrintedPatterns
from herorun.core.ports import Place
from herorun.core.triage.prefilter import EDGE
from herorun.sources._signatures import signature_set_of
from herorun.system._regular_file import open_regular
from herorun.system.process import run

ASKING = 20.0  # seconds
PART = 8 << 20  # bytes in memory
_ASK = """\
import importlib.metadata as m, json, sys
print(json.dumps([str(f.locate()) for f in m.files(sys.argv[1]) or ()]))
"""


def read_printed_patterns(
    contract: Contract, place: Place, packages: Installed | Nothing
) -> PrintedPatterns | Nothing:
    """Checks the rows with a `printed_by` package. Keywords are compared as in the log scan,
    without regard to case.
    """
    if contract.babysit.signatures is None:
        return Nothing("the contract adds no signatures")
    rows = [row for row in signature_set_of(contract, place).signatures if row.printed_by]
    if not rows:
        return Nothing("no signature says which package prints it")
    if isinstance(packages, Nothing):
        return packages
    present, missing = {}, {}
    for row in rows:
        package = re.sub("[-_.]+", "-", row.printed_by).lower()
        version = packages.packages.get(package)
        if version is None:
            missing[row.id] = f"{row.printed_by} is not installed"
        elif _contains_any(
            _list_module_files(packages.interpreter, package),
            [k.strip(EDGE) for k in row.keywords],
        ):
            present[row.id] = f"{row.printed_by} {version}"
        else:
            keywords = ", ".join(f"{keyword.strip(EDGE)!r}" for keyword in row.keywords)
            missing[row.id] = (
                f"the installed {row.printed_by} {version} contains none of {keywords}"
            )
    return PrintedPatterns(present, missing)


def _list_module_files(interpreter: str, package: str) -> list[Path]:
    answer = run((interpreter, "-c", _ASK, package), ASKING, cwd="/", env=dict(os.environ))
    if answer.code:
        raise CouldNotLook(
            f"{interpreter} could not say which files {package} has: {answer.complaint}"
        )
    try:
        return [Path(name) for name in json.loads(answer.out)]
    except (ValueError, TypeError):
        raise CouldNotLook(f"{interpreter} gave no answer about the files of {package}.") from None


def _contains_any(files: Iterable[Path], patterns: list[str]) -> bool:
    keywords = [word.encode() for word in patterns]
    longest = max(map(len, keywords))
    return any(
        any(word in part for word in keywords)
        for file in files
        if file.is_file()
        for part in _read_overlapping(file, longest)
    )


def _read_overlapping(file: Path, overlap: int) -> Iterator[bytes]:
    """The file's bytes in lower case, in parts; each part begins with the end of the previous
    one.
    """
    before = b""
    with open_regular(file) as stream:
        while data := stream.read(PART):
            yield (window := before + data.lower())
            before = window[-overlap:]
