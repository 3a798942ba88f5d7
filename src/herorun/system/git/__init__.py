"""git: every call with an allow-listed environment, bytes, `-z` where there are names, and a
deadline.

GitPython finds the repository; the calls and their parsing are ours, because a wrong answer here is
a wrong launch: with a name that is not UTF-8, GitPython 3.1 raises, or returns an empty list of
differences, as for a clean tree (tests/system/test_gitpython.py). Its import takes 570 ms. Nothing
in this module touches HEAD, the index, the stash, the work tree or the configuration.
"""

from herorun.system.git.discover import find_repository
from herorun.system.git.repository import Repository
from herorun.system.git.run import REMOTE, GitFailed, environment

__all__ = ["REMOTE", "GitFailed", "Repository", "environment", "find_repository"]
