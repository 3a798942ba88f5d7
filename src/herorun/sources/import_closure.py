"""Which of the repository's files the command names or imports, from the words of `[command]` and
the files' text.

Nothing is run or imported. What the text does not show, such as a computed module name, is missed:
the closure can only raise a file's impact, never lower it.
"""

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from posixpath import basename, join

from herorun.core.code.python_imports import ImportStatement, imported_by
from herorun.core.contract import Contract
from herorun.core.errors import describe_error
from herorun.core.evidence import ImportClosure, WorkTree
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.sources._modules import Modules
from herorun.sources._projects import projects, source_folders, table_or_empty
from herorun.sources._status import show_path
from herorun.system.files import read_regular
from herorun.system.git import Repository
from herorun.system.git.commit_content import in_repository

_PYTHON = lazy_regex(r"(python|pypy)[\d.]*")
_STARTS = lazy_regex(r"^-m|^--module|\.py$|\.(ba)?sh$|python|pypy")
_SHELL = (".sh", ".bash", ".sbatch", ".slurm")
_MAX_BYTES = 4 << 20  # bytes: a larger file is data


def read_import_closure(
    repository: Repository, contract: Contract, tree: WorkTree
) -> ImportClosure:
    """All files in the work tree that the command's words lead to."""
    cwd = in_repository(contract.command.cwd, "")
    closure = _Closure(top=os.path.realpath(repository.top), cwd=cwd, contract=contract, tree=tree)
    for path in contract.config.files:
        closure.add(in_repository(cwd, path))
    for argv in (contract.command.argv, contract.command.resume_argv):
        closure.add_argv(argv)
    with warnings.catch_warnings():  # warnings about string escapes in the parsed code
        warnings.simplefilter("ignore")
        closure.follow()
    return ImportClosure(
        frozenset(show_path(path) for path in closure.files),
        closure.entry,
        tuple(sorted(closure.unresolved)),
    )


@dataclass(kw_only=True)
class _Closure:
    """The files found so far, and those that must still be read."""

    top: str
    cwd: str
    contract: Contract
    tree: WorkTree
    entry: str | None = None
    files: set[str] = field(default_factory=set)
    unresolved: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        changed_paths = {*self.tree.staged, *self.tree.unstaged}
        self.projects = list(projects(self.top, self.cwd, self.unresolved))
        entries = self.contract.command.env.get("PYTHONPATH", "").split(":")
        roots = [join(self.cwd, each) for each in entries if each]
        roots += [self.cwd, "", join(self.cwd, "src"), "src"]
        for folder, project in self.projects:
            roots += [join(folder, each) for each in source_folders(project)]
        self.modules = Modules(self.top, roots, changed_paths)

    def add(self, path: str, run: bool = False) -> None:
        if run and self.entry is None:
            self.entry = path
        if path not in self.files:
            self.files.add(path)
            self.waiting.append(path)

    def add_argv(self, arguments: Sequence[str]) -> None:
        """Files, modules and installed commands that a command line names."""
        for before, word in zip(("", *arguments), arguments, strict=False):
            match = re.fullmatch("(?:-m|--module=)([A-Za-z_][\\w.]*)", word)
            after_python = _PYTHON.fullmatch(basename(before)) is not None
            if before in ("-m", "--module"):
                self._module(word)
            elif not self._file(word, after_python):
                if match:
                    self._module(match[1])
                elif before == "-c":
                    self._text(word)
                elif self.entry is None:
                    self._script(basename(word))

    def _file(self, word: str, after_python: bool) -> bool:
        """Add a word, or its part after `=`, if it is a file, or a folder that Python can run."""
        for name in (word, word.rpartition("=")[2]):
            if path := self.modules.inside(name, self.cwd):
                self.add(path, run=path.endswith(".py") or after_python)
                return True
        main = self.modules.inside(join(word, "__main__.py"), self.cwd) if after_python else None
        if main:
            self.add(main, run=True)
        return main is not None

    def _module(self, name: str) -> None:
        files = self.modules.module(name)
        for path in files[::-1]:
            self.add(path, run=path == files[-1])

    def _script(self, name: str) -> None:
        """A command that a project of this repository installs."""
        if target := self._target(name):
            self._module(target)

    def _target(self, name: str) -> str:
        """The module of such a command; "" if there is none."""
        targets = (
            table_or_empty(project, "project", "scripts").get(name) for _, project in self.projects
        )
        return next((str(target).partition(":")[0].strip() for target in targets if target), "")

    def _text(self, text: str) -> None:
        """Add what the text after `-c` names: Python, or a shell command."""
        try:
            self._imports(
                imported_by(text.encode("utf-8", "surrogateescape")), join(self.cwd, "-c")
            )
        except (SyntaxError, ValueError):
            self._shell(text)

    def _shell(self, text: str) -> None:
        """Add the lines that start Python or another script; other files that a shell script reads
        are not found.
        """
        from herorun.core.shell_words import shell_lines

        for arguments in shell_lines(text):
            if any(_STARTS.search(word) or self._target(word) for word in arguments):
                self.add_argv(arguments)

    def _imports(self, imports: Sequence[ImportStatement], by: str) -> None:
        for one in imports:
            for path in self.modules.files(one, by):
                self.add(path)

    def follow(self) -> None:
        while self.waiting:
            path = self.waiting.pop()
            python = path.endswith(".py") or path == self.entry
            if python or path.endswith(_SHELL):
                self._read(path, python)

    def _read(self, path: str, python: bool) -> None:
        full = os.path.join(self.top, path)
        self._add_link_target(full)
        try:
            if os.path.getsize(full) > _MAX_BYTES:
                raise ValueError(f"it is longer than {_MAX_BYTES >> 20} MiB")
            data = read_regular(Path(full), _MAX_BYTES)
            if python:
                self._imports(imported_by(data), path)
            else:
                self._shell(data.decode("utf-8", "surrogateescape"))
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as error:
            self.unresolved.append(f"{show_path(path)}: {_explain_error(error)}")

    def _add_link_target(self, full: str) -> None:
        """Add the target of a symbolic link, if it is in this repository."""
        real = os.path.realpath(full)
        if real != full and (path := self.modules.inside(real, "")):
            self.add(path)


def _explain_error(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno} is not valid Python: {error.msg}"
    return (
        describe_error(error) if isinstance(error, OSError) else str(error) or type(error).__name__
    )
