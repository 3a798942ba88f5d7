"""The content of a commit: the digest of its files and its resolved config. Nothing is read from
the work tree.
"""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from herorun.core.config.files import MAX_BYTES, UnreadableConfig, merge, parse_config, parse_json
from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.trust import config_item
from herorun.system.files import scratch_folder
from herorun.system.git import Repository, environment
from herorun.system.git.calls import lock_of
from herorun.system.git.loose_objects import OBJECT
from herorun.system.process import run
from herorun.system.user_trust import describe_missing_trust, untrusted_items

CONFIG_COMMAND_TIMEOUT = 120.0  # seconds


def code_tree(repository: Repository, commit: str, contract_path: str) -> str:
    """Digest of the commit's file list without the contract file, so that signing a waiver changes
    no code.

    For 100,000 files it takes a fifth of a second. The newest digests of commits are cached, and
    two threads that ask for the same one compute it once.
    """
    if not OBJECT.fullmatch(commit):
        return _code_tree(repository, commit, contract_path)
    with lock_of(repository.common, "code tree"):
        return _cached_code_tree(repository, commit, contract_path)


def _code_tree(repository: Repository, commit: str, contract_path: str) -> str:
    path = contract_path.encode("utf-8", "surrogateescape")
    lines = [
        line
        for line in repository.tree_lines(commit)
        if not (line.endswith(path) and line.split(b" ", 2)[2] == path)
    ]
    return "sha256:" + hashlib.sha256(b"\0".join(lines)).hexdigest()


_cached_code_tree = lru_cache(maxsize=8)(_code_tree)


def resolved_config(
    repository: Repository, contract: Contract, commit: str
) -> tuple[dict[str, Any], str]:
    """The merged config files of a commit, or the output of the config command in an exported copy
    of that commit.
    """
    config: dict[str, Any] = {}
    if contract.config.files:
        paths = [in_repository(contract.command.cwd, name) for name in contract.config.files]
        contents = repository.read(commit, paths)
        for path in paths:
            data = contents[path]
            if data is None:
                raise WrongUse(
                    f"{path} is not in commit {commit[:9]}: commit it, or fix [config] files in "
                    f"{contract.path}.",
                    root=f"file {path}",
                )
            config = merge(config, _parse_file(path, data))
    if contract.config.command:
        config = merge(config, printed_config(repository, contract, commit))
    source = ", ".join(
        (
            *contract.config.files,
            *([" ".join(contract.config.command)] if contract.config.command else []),
        )
    )
    return config, source or "the contract names no config"


def in_repository(cwd: str, name: str) -> str:
    """A path relative to the command's working directory, as a path in the repository."""
    if name.startswith("/"):
        raise WrongUse(
            f"{name} is an absolute path: [config] files are relative to [command] cwd, and read "
            "from the commit."
            " Commit it to the repository, or let a [config] command print it."
        )
    parts: list[str] = []
    for part in f"{cwd}/{name}".split("/"):
        if part == "..":
            if not parts:
                raise WrongUse(
                    f"{name} lies outside the repository: [config] files are relative to "
                    "[command] cwd,"
                    " and read from the commit. Move it into the repository, or let a [config] "
                    "command print it."
                )
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _parse_file(path: str, data: bytes) -> dict[str, Any]:
    try:
        return parse_config(path, data)
    except UnreadableConfig as error:
        raise WrongUse(f"{error}.") from None


def printed_config(repository: Repository, contract: Contract, commit: str) -> dict[str, Any]:
    """The output of the config command, run in an exported copy of the commit; `WrongUse` if it is
    not a config. `CouldNotLook` if a person must trust the command first.
    """
    from herorun.system.git.export import export

    if missing := untrusted_items(repository.main, config_item(contract)):
        raise CouldNotLook(describe_missing_trust(contract.slug, missing))
    command = contract.config.command
    env = environment() | dict(contract.command.env) | {"PYTHONDONTWRITEBYTECODE": "1"}
    with scratch_folder(prefix="herorun-config-") as scratch:
        folder = export(repository, commit, Path(scratch) / "code") / contract.command.cwd
        answer = run(command, CONFIG_COMMAND_TIMEOUT, cwd=str(folder), env=env)
    if answer.code:
        raise WrongUse(f"[config] command `{' '.join(command)}` failed: {answer.complaint}")
    if len(answer.out) > MAX_BYTES:
        raise WrongUse(
            f"[config] command `{' '.join(command)}` printed more than {MAX_BYTES // 1_000_000} "
            "MB: that is not a config."
        )
    try:
        document = parse_json(answer.out.decode())
    except (ValueError, RecursionError) as error:
        raise WrongUse(
            f"[config] command `{' '.join(command)}` did not print one JSON object: {error}."
        ) from None
    if not isinstance(document, dict):
        raise WrongUse(f"[config] command `{' '.join(command)}` printed no JSON object.")
    return document
