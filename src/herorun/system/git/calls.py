"""git in one work tree: each call, and the settings in force."""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic

from herorun.core.errors import CouldNotLook
from herorun.core.lazy_dataclass import dataclass
from herorun.system.git.parse import is_of_repository, last_setting
from herorun.system.git.run import FLAGS, LOCAL, GitFailed, environment, users_ssh
from herorun.system.process import ProcessResult, run

_ASK = ("ls-remote", "fetch", "push", "checkout-index")  # remotes; the last one in a partial clone
# seconds for which a setting is cached if none of the usual files changes
FRESH = 60.0


@dataclass(frozen=True)
class GitCalls:
    """A git work tree, and git's answers about it."""

    top: Path  # of this work tree
    common: Path  # the git directory that all work trees share

    @property
    def main(self) -> Path:
        """The main work tree: local state lives there, shared by all linked ones."""
        return self.common.parent if self.common.name == ".git" else self.top

    def git(
        self,
        *args: str,
        stdin: bytes = b"",
        timeout: float = LOCAL,
        env: Mapping[str, str] | None = None,
        ok: Sequence[int] = (0,),
        settings: Sequence[str] = (),
    ) -> ProcessResult:
        """Run git here, with `key=value` settings for this call; an exit code that is not `ok` is a
        `GitFailed`.
        """
        argv = ("git", *FLAGS, *(word for each in settings for word in ("-c", each)), *args)
        ssh = users_ssh(self.config("core.sshCommand")) if args[0] in _ASK else {}
        full_env = {**environment(), **ssh, **(env or {})}
        try:
            answer = run(argv, timeout, cwd=str(self.top), env=full_env, stdin=stdin)
        except CouldNotLook as error:  # which names the second word
            raise CouldNotLook(str(error).replace(f"git {FLAGS[0]}", f"git {args[0]}")) from None
        if answer.code not in ok:
            raise GitFailed(args, answer)
        return answer

    @property
    def listed_settings(self) -> str:
        """The output of `git config --list -z`; git runs again only after a change."""
        arguments = ("config", "--list", "-z")
        listing = self.until_settings_change(*arguments)
        # Git lists the user's own settings alone where it cannot open the repository, which may
        # have an end without a change of settings.
        return listing if is_of_repository(listing) else self.git(*arguments).text

    def config(self, key: str) -> str | None:
        """The value in force; None where it is not set, or empty."""
        return self.settings(key)[0]

    def settings(self, *keys: str) -> tuple[str | None, ...]:
        """The values of several settings, as `config` gives one."""
        listing = self.listed_settings
        return tuple(last_setting(listing, key) for key in keys)

    def until_settings_change(self, *arguments: str) -> str:
        """What git says of its settings: the same until they change."""
        with lock_of(self.common, "settings"):
            return _answer_until(self, arguments, known_settings(self.common))


def lock_of(common: Path, what: str) -> Lock:
    """For a cached answer about one repository that several threads ask for at once: the first one
    computes it, and the others wait for that.
    """
    return _locks.setdefault((common, what), Lock())


_locks: dict[tuple[Path, str], Lock] = {}


@lru_cache(maxsize=512)
def _answer_until(calls: GitCalls, arguments: tuple[str, ...], settings_key: object) -> str:
    return calls.git(*arguments).text


def known_settings(common: Path) -> object:
    """A value that changes when the user changes a setting, so that a babysitter notices it;
    changes in included files within a minute.
    """
    home = os.environ.get("HOME", "")
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    inside = [f"{common}/{name}" for name in ("config", "config.worktree")]
    files = (*inside, f"{home}/.gitconfig", f"{own}/git/config")
    # as bytes: to decode the name of every variable takes longer than the rest
    names = sorted(name for name in os.environb if name.startswith(b"GIT_CONFIG_"))
    overrides = tuple((name, os.environb.get(name)) for name in names)
    return (*map(_stamp, files), home, own, overrides, int(monotonic() / FRESH))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        stats = os.stat(path)
    except OSError:
        return None
    return stats.st_ino, stats.st_mtime_ns, stats.st_size
