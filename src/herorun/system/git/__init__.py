"""git: every call with an allow-listed environment, bytes, `-z` where there are names, and a deadline.

GitPython finds the repository; the calls and their parsing are ours, because a wrong answer here is a wrong
launch. Nothing in this module touches HEAD, the index, the stash, the work tree or the configuration.
"""

from herorun.system.git.calling import REMOTE, GitFailed, environment
from herorun.system.git.finding import find_repository
from herorun.system.git.repository import Repository

__all__ = ["REMOTE", "GitFailed", "Repository", "environment", "find_repository"]
