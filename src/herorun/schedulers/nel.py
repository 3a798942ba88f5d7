"""Evaluations by the NeMo evaluator launcher, `nel`, with its local executor or its Slurm executor.

An instance is the invocation whose output directory is ours, `<folder>/<instance>`, found in nel's own list of jobs,
which is on this machine. nel runs no commands: `[command] argv` is its configuration file and overrides of it. Secrets
travel by inheritance to nel, which hands them to the containers that its configuration names.
"""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from shlex import join

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, in_words
from herorun.core.evidence import Job
from herorun.core.ports import Absent, Found, Place, Search, Submission, Unsure
from herorun.schedulers import _kept as keeping
from herorun.schedulers._asked import must_be_instance
from herorun.schedulers._instance import last_lines
from herorun.schedulers._nel_judge import Part, judge, local_part, slurm_part
from herorun.schedulers._nel_options import OUTPUT, config_and_overrides, quoted
from herorun.schedulers._nel_options import Options as Options
from herorun.schedulers._nel_rows import (
    Entry,
    entries,
    errors_in,
    invocation_in,
    of_output,
    stages,
    statuses,
)
from herorun.schedulers._nel_slurm import SlurmJobs
from herorun.system.clock import now
from herorun.system.files import locked
from herorun.system.process import Answer, run

_NOT_FOUND = 127
# nel writes secrets into its output directory; and what it starts keeps its outputs open for as long as it runs, so
# that they are files and no pipes.
_PRIVATE = 'umask 077; exec "$@" </dev/null >"$0.out" 2>"$0.err"'
_LOGS = ("client_stdout.log", "server_stdout.log", "stdout.log")


def connect(options: Options, place: Place) -> "Nel":
    folder = options.folder or f"{place.output_root.rstrip('/')}/nel"
    if not folder.startswith("/"):
        raise WrongUse(f"nel cannot write to {place.output_root}: say [scheduler] folder, an absolute path.")
    return Nel(options, Path(place.state).absolute() / "nel", folder.rstrip("/"))


class Nel:
    """The scheduler `nel`."""

    everywhere = False  # nel's list of jobs is on this machine

    def __init__(self, options: Options, folder: Path, outputs: str) -> None:
        self._options, self._folder, self._outputs = options, folder, outputs
        self._slurm = SlurmJobs(options)

    # --- looking ---------------------------------------------------------------------------------

    def find(self, instance: str, intended_at: datetime) -> Search:
        return self.find_all({instance: intended_at})[instance]

    def find_all(self, wanted: Mapping[str, datetime]) -> Mapping[str, Search]:
        """One `nel status` for any number of instances, and one look at Slurm for those that run there."""
        for instance in wanted:
            must_be_instance(instance)
        asked_at = now()
        try:
            known = self._entries()
            jobs = {name: of_output(known, self._output(name)) for name in wanted}
            parts = self._parts([entry for of in jobs.values() for each in of.values() for entry in each])
        except (CouldNotLook, OSError) as error:
            return dict.fromkeys(wanted, Unsure(in_words(error)))
        return {name: self._answer(name, at, jobs[name], parts, asked_at) for name, at in wanted.items()}

    def _answer(
        self,
        instance: str,
        intended_at: datetime,
        found: Mapping[str, Sequence[Entry]],
        parts: Mapping[str, Part],
        asked_at: datetime,
    ) -> Search:
        kept = keeping.kept(self._folder, instance)
        jobs = [judge(instance, name, [parts[e.id] for e in each], kept) for name, each in found.items()]
        live = [job for job in jobs if not job.state.ended]
        if len(live) > 1:
            return Unsure(
                f"{len(live)} invocations write to {self._output(instance)}: kill all but one with nel kill"
            )
        if jobs:
            return Found((live or jobs)[0])
        if kept.id:
            return Unsure(f"nel's list of jobs has lost {instance}, which was invocation {kept.id}")
        if asked_at - intended_at <= self._options.settle:
            return Unsure(f"too early to tell: {instance} was to be submitted at {intended_at:%H:%M:%S}")
        return Absent()

    def _entries(self) -> tuple[Entry, ...]:
        try:
            return entries(self._db.read_bytes().decode("utf-8", "replace"))
        except FileNotFoundError:
            return ()  # nel makes it with its first job

    @property
    def _db(self) -> Path:
        told = self._options.exec_db or os.environ.get("NEMO_EVALUATOR_EXEC_DB_FILE")
        return Path(told) if told else Path.home() / ".nemo-evaluator" / "exec-db" / "exec.v1.jsonl"

    def _parts(self, jobs: Sequence[Entry]) -> dict[str, Part]:
        if not jobs:
            return {}
        told = self._status(list(dict.fromkeys(job.invocation for job in jobs)))
        slurm = self._slurm.jobs([job for job in jobs if job.executor == "slurm"])
        return {job.id: self._part(job, told.get(job.id, "not_found"), slurm) for job in jobs}

    def _part(self, job: Entry, word: str, slurm: Mapping[str, Job | str]) -> Part:
        if job.executor == "slurm":
            return slurm_part(job, word, slurm.get(job.id, "Slurm was not asked"))
        if job.executor == "local":
            logs = Path(job.folder) / "logs"
            return local_part(job, word, stages(_read(logs / "stage.running"), _read(logs / "stage.exit")))
        raise CouldNotLook(f"{job.id} runs by nel's executor {job.executor}, which herorun cannot follow.")

    def _status(self, invocations: Sequence[str]) -> dict[str, str]:
        answer = self._ask(["status", "--json", *invocations])
        if answer.code:
            raise CouldNotLook(f"nel status failed: {_said(answer)}")
        return statuses(answer.text)

    def live(self, slug: str) -> tuple[Job, ...]:
        whole = re.compile(rf"{re.escape(self._outputs)}/({re.escape(slug)}-[0-9]+)/?")
        found = (whole.fullmatch(entry.output) for entry in self._entries())
        names = sorted({each[1] for each in found if each}, key=lambda name: (len(name), name))
        jobs = []
        for name, answer in self.find_all(dict.fromkeys(names, now())).items() if names else ():
            if isinstance(answer, Unsure):
                raise CouldNotLook(f"{name}: {answer.why}.")
            jobs += [answer.job] if isinstance(answer, Found) and not answer.job.state.ended else []
        return tuple(jobs)

    def tail(self, instance: str, lines: int) -> str:
        """Of each task the log that was written last; FileNotFoundError where there is none."""
        found = list(of_output(self._entries(), self._output(must_be_instance(instance))).values())
        jobs = found[0] if found else []
        ends = [(job, self._end(job, lines)) for job in jobs]
        told = [(job, end) for job, end in ends if end is not None]
        if not told:
            raise FileNotFoundError(2, "nel has no log of it", instance)
        if len(told) == 1:
            return told[0][1]
        return "".join(f"==> {job.id}\n{end}" for job, end in told)

    def _end(self, job: Entry, lines: int) -> str | None:
        if job.executor == "slurm":
            return self._slurm.tail(job, lines)
        logs = [path for name in _LOGS if (path := Path(job.folder) / "logs" / name).is_file()]
        filled = [path for path in logs if path.stat().st_size] or logs
        if not filled:
            return None
        return last_lines(filled[0], lines).decode("utf-8", "replace")

    # --- acting ----------------------------------------------------------------------------------

    def request(self, submission: Submission, code: str, admission: str) -> str:
        """What nel is given, and where."""
        by_name = f"# with {', '.join(submission.secrets)} in its environment\n" if submission.secrets else ""
        env = [f"{name}={value}" for name, value in self._env(submission, admission).items()]
        words = [*self._options.program, *self._words(submission)]
        return f"# in {os.path.join(code, submission.cwd)}\n{by_name}{join(['env', *env, *words])}\n"

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Looks before and after."""
        instance = must_be_instance(submission.instance)
        words = self._words(submission)
        missing = [name for name in submission.secrets if not os.environ.get(name)]
        if missing:
            raise WrongUse(
                f"{instance} needs {', '.join(missing)} in the environment: set it where herorun runs, "
                "or take it out of [command] secrets."
            )
        where = Path(code, submission.cwd)
        if not (where / words[2]).is_file():
            raise WrongUse(f"{instance} was not submitted: there is no {where / words[2]}.")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        within = self._options.submit_within.total_seconds()
        with locked(self._folder / f"{instance}.lock", within, f"another submission of {instance}"):
            there = self._there(instance)
            if there:
                return there
            keeping.keep_asked(self._folder, instance)
            self._run(submission, words, str(where), admission)
            job = self._there(instance)
            if job is None:
                raise CouldNotLook(f"nel took {instance}, and does not list it.")
            keeping.keep_id(self._folder, instance, job.id)
            return job

    def _words(self, submission: Submission) -> list[str]:
        config, overrides = config_and_overrides(submission.argv)
        mine = f"{OUTPUT}={quoted(self._output(submission.instance))}"
        options = [word for each in (*overrides, mine) for word in ("-o", each)]
        return ["run", "--config", config, *options, "--config-output", str(self._folder / "configs")]

    def _env(self, submission: Submission, admission: str) -> dict[str, str]:
        return {
            **submission.env,
            "HERORUN_INSTANCE": submission.instance,
            "HERORUN_ADMISSION": admission,
            "HERORUN_ATTEMPT": "1",
        }

    def _run(self, submission: Submission, words: list[str], where: str, admission: str) -> None:
        within = self._options.submit_within.total_seconds()
        try:
            answer = self._ask(words, within, where, self._env(submission, admission))
        except CouldNotLook as error:
            return self._must_be_taken(submission.instance, error)
        if answer.code or invocation_in(answer.text) is None:
            said = _said(answer)
            self._must_be_taken(submission.instance, WrongUse(f"nel refuses {submission.instance}: {said}"))
        return None

    def _must_be_taken(self, instance: str, error: HerorunError) -> None:
        """nel writes a job down before it starts it: what is not in its list was not started."""
        if self._there(instance) is None:
            raise error

    def stop(self, instance: str, by: str) -> None:
        """`nel kill`: of a local job it stops the container, and what the container has started elsewhere runs on."""
        job = self._there(must_be_instance(instance))
        if job is None:
            raise WrongUse(f"There is no job {instance} in {self._db}.")
        if job.state.ended:
            return
        if not job.state.live:
            raise CouldNotLook(f"Whether {instance} runs, nel cannot say: {job.reason}.")
        keeping.keep_stop(self._folder, instance, job.id, by)
        try:
            self._kill(job.id)
        except HerorunError:
            keeping.forget_stop(self._folder, instance)
            raise

    def _kill(self, invocation: str) -> None:
        """It exits with 0 whatever comes of it, and calls an error what it says of a task that has ended."""
        answer = self._ask(["kill", invocation])
        if answer.code:
            raise CouldNotLook(f"nel kill failed: {_said(answer)}")
        if "killed" not in statuses(answer.text).values():
            raise CouldNotLook(f"nel kill ended nothing: {errors_in(answer.text) or _said(answer)}")

    def _there(self, instance: str) -> Job | None:
        found = self.find(instance, now() - timedelta(days=30))
        if isinstance(found, Unsure):
            raise CouldNotLook(f"{found.why}.".replace("..", "."))
        return found.job if isinstance(found, Found) else None

    # --- one call ----------------------------------------------------------------------------------

    def _output(self, instance: str) -> str:
        return f"{self._outputs}/{instance}"

    def _ask(
        self,
        words: list[str],
        timeout: float = 0,
        folder: str | None = None,
        more: Mapping[str, str] | None = None,
    ) -> Answer:
        env = {"NEMO_EVALUATOR_TELEMETRY_LEVEL": "0", **os.environ, "NO_COLOR": "1", **(more or {})}
        env["NEMO_EVALUATOR_EXEC_DB_FILE"] = str(self._db)
        with tempfile.TemporaryDirectory(prefix="herorun-nel-") as top:
            argv = ["sh", "-c", _PRIVATE, f"{top}/nel", *self._options.program, *words]
            answer = run(argv, timeout or self._options.timeout.total_seconds(), cwd=folder, env=env)
            out, err = (Path(top, f"nel.{name}").read_bytes() for name in ("out", "err"))
        if answer.code == _NOT_FOUND:
            raise CouldNotLook(
                f"{self._options.program[0]} was not found on this machine: pip install nemo-evaluator-launcher, "
                "or name it in [scheduler] program."
            )
        return Answer(answer.code, out, err)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _said(answer: Answer) -> str:
    """The sentence of an error that nel lets through as a traceback."""
    lines = [line.strip() for line in answer.err.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception|Missing\w*): ", line)]
    return (errors or lines or [answer.complaint])[-1].partition(": ")[2] or (
        errors or lines or [answer.complaint]
    )[-1]
