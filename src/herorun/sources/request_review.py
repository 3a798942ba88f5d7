"""What the scheduler says of the request before it is submitted, if it can be asked."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.evidence import Directive, IgnoredDirectives, Nothing, Offered, RequestReview
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.ports import Scheduler
from herorun.core.redaction.scrub import scrub
from herorun.core.shell_words import shell_lines
from herorun.system._regular_file import open_regular
from herorun.system.git import Repository

MAX_SCRIPT_BYTES = 64 << 10  # bytes: directives are at its top
# a script whose path a shell expands: `~/train.sh`, `$PWD/train.sh`
_SHELL_PATH = lazy_regex(r"[~$][^=]*/[^/]*\.(sh|bash|sbatch|slurm)")
_NO_PATH = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)


def read_request_review(
    scheduler: Scheduler, plan: Plan, contract: Contract
) -> RequestReview | Nothing:
    """The review; Nothing if the adapter has no `review(plan, slug)`."""
    review = getattr(scheduler, "review", None)
    if review is None:
        return Nothing("this scheduler cannot be asked before a submission")
    answer: RequestReview = review(plan, contract.slug)
    return answer


def read_offered(scheduler: Scheduler, plan: Plan) -> Offered | Nothing:
    """The limits; Nothing if the adapter has no `offers(plan)`."""
    offers = getattr(scheduler, "offers", None)
    if offers is None:
        return Nothing("this scheduler does not report what it would give")
    answer: Offered = offers(plan)
    return answer


def read_ignored_directives(
    scheduler: Scheduler, contract: Contract, repository: Repository
) -> IgnoredDirectives | Nothing:
    """Those of the text files that the words of the command name, from `[command] cwd` on; Nothing
    if the adapter has no `ignored_directives(argv, script)`, or judges none of them. A file that
    cannot be read is raised.
    """
    find_directives = getattr(scheduler, "ignored_directives", None)
    if find_directives is None:
        return Nothing("this scheduler reads no directives in a script")
    command, scripts = contract.command, dict[str, tuple[Directive, ...]]()
    unread_paths: dict[str, str] = {}
    reason = "the command names no script that is a text file here"
    for argv in (command.argv, command.resume_argv):
        for name in _words_of(argv):
            text = _text_of_script(Path(repository.top, command.cwd, name))
            if text is None:
                if _SHELL_PATH.fullmatch(name):
                    unread_paths[scrub(name)] = "only the job knows this path"
                continue
            directives = find_directives(argv, text)
            if directives is None:
                reason = f"{scrub(name)} was not checked: the command submits a job itself"
                continue
            lines = [Directive(each.line, scrub(each.text)) for each in directives]
            scripts[name] = tuple(dict.fromkeys((*scripts.get(name, ()), *lines)))
    return IgnoredDirectives(scripts, unread_paths) if scripts or unread_paths else Nothing(reason)


def _words_of(argv: Sequence[str]) -> Iterator[str]:
    """The words, those inside a word that is a shell's command, and each option's value."""
    for word in argv:
        inner_words = [each for line in shell_lines(word) for each in line]
        values = [each.partition("=")[2] for each in (word, *inner_words)]
        yield from dict.fromkeys(filter(None, [word, *inner_words, *values]))


def _text_of_script(path: Path) -> str | None:
    """Its beginning; None if it is no file, or no text."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
    except OSError as error:
        if error.errno in _NO_PATH:
            return None
        raise
    with open_regular(path) as file:
        data = file.read(MAX_SCRIPT_BYTES)
    return None if b"\0" in data else data.decode("utf-8", "replace")
