"""Iris' own command line, each question one bounded call, and what its failures mean."""

import os
from collections.abc import Sequence

from herorun.core.errors import CouldNotLook
from herorun.schedulers._iris_options import Options
from herorun.schedulers._iris_rows import Generation, Listing, generation_of, list_words, listing
from herorun.schedulers._iris_submit import FORWARDED, selector
from herorun.schedulers._said import said_by
from herorun.system.process import Answer, run

USAGE = 2  # exit code of a command line that iris does not take


class CommandLine:
    """The program, of whichever generation it turns out to be."""

    def __init__(self, options: Options) -> None:
        self.program = [*options.program, *selector(options)]
        self._bare, self._timeout = options.program, options.timeout.total_seconds()
        self._known: Generation | None = None

    @property
    def generation(self) -> Generation:
        """Asked for once, and again after a command line that it did not take."""
        if self._known is None:
            answer = run([*self._bare, "job", "list", "--help"], self._timeout, env=environment())
            if answer.code:
                raise self.trouble("job list --help", answer)
            self._known = generation_of(answer.text)
        return self._known

    def list(self, user: str, beginning: str, whole: bool) -> Listing:
        generation = self.generation
        answer = self.ask(list_words(generation, user, beginning, whole))
        if answer.code == USAGE:
            self._known = None  # iris was upgraded under us: the next look asks what it is now
        if answer.code:
            raise self.trouble("job list", answer)
        return listing(generation, answer.text, answer.err.decode("utf-8", "replace"))

    def ask(self, words: Sequence[str], timeout: float | None = None, folder: str | None = None) -> Answer:
        env = environment()
        if folder:  # the bundle is the folder itself, not what a repository around it tracks
            env["GIT_CEILING_DIRECTORIES"] = os.path.dirname(folder)
        return run([*self.program, *words], timeout or self._timeout, cwd=folder, env=env)

    def trouble(self, what: str, answer: Answer) -> CouldNotLook:
        return CouldNotLook(f"`iris {what}` failed: {said_by(answer)}")


def environment() -> dict[str, str]:
    """What iris would forward, or be misled by, is taken away."""
    without = (*FORWARDED, "IRIS_USER", "IRIS_CONTROLLER_URL")
    return {name: value for name, value in os.environ.items() if name not in without}
