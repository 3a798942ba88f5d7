"""The training code reads a variable that is set in the launching shell but is not in the plan.

Why: a flag such as `PACK=8` changes the training, is in no commit, and differs in the next shell;
only the plan's values reach the job, so the run would train without it.
Fix: state it under `[command] env` in the contract; or, if it is a secret, its name in
`[command] secrets`; or unset it.
"""

from collections.abc import Iterator

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import CodeFlags, Environment, Flag
from herorun.core.finding import Verdict, count, failed, few, passed
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub_tree


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.SKIP)
def unplanned_environment(plan: Plan, environment: Environment, flags: CodeFlags) -> list[Verdict]:
    """One verdict for each flag that is set here and would not reach the job, and one that lists
    the rest.
    """
    plan_names = {*plan.env.value, *plan.secrets.value}
    unplanned_names = [
        flag for flag in flags.flags if flag.name in flags.here and flag.name not in plan_names
    ]
    failures = [_report_flag(flag, flags, environment) for flag in unplanned_names]
    message = (
        f"{_describe_reads(flags, plan_names)}; the plan has "
        f"{count(len(plan.env.value), 'variable')}"
    )
    return [
        *failures,
        passed(message, *_list_variables(plan, environment, flags), subject="environment"),
    ]


def _describe_reads(flags: CodeFlags, plan_names: set[str]) -> str:
    if not flags.flags:
        return "no code was found that reads an environment variable"
    planned_flags = [str(flag) for flag in flags.flags if flag.name in plan_names]
    unset_flags = [str(flag) for flag in flags.flags if flag.name not in {*plan_names, *flags.here}]
    parts = (
        (planned_flags, "in the plan"),
        (unset_flags, "set neither in the plan nor in this shell"),
    )
    descriptions = [f"{few(names, 5)}, {where}" for names, where in parts if names]
    return f"the code reads {'; '.join(descriptions) or 'no variable of the plan'}"


def _report_flag(flag: Flag, flags: CodeFlags, environment: Environment) -> Verdict:
    why = environment.withheld.get(flag.name, "state it in [command] env, or unset it")
    return failed(
        f"{flag} is {flags.here[flag.name]!r} in this shell, and is not in the plan, so the job "
        f"would not get it; {why}",
        subject=flag.name,
    )


def _list_variables(plan: Plan, environment: Environment, flags: CodeFlags) -> Iterator[str]:
    """The variables that reach the training, those that do not, and those that the code reads."""
    values = scrub_tree(dict(plan.env.value))
    for name, value in sorted(values.items()):
        other = flags.here.get(name, value)
        differs = f"; this shell has {other!r}, which does not count" if other != value else ""
        yield f"{name}={value}{differs}"
    for name in plan.secrets.value:
        note = (
            ", with another value than at the last launch"
            if name in environment.changed_secrets
            else ""
        )
        yield f"{name}, a secret, by name{note}"
    yield from (f"{name} is not passed on: {why}" for name, why in environment.withheld.items())
    unset_names = [
        flag for flag in flags.flags if flag.name not in values and flag.name not in flags.here
    ]
    if unset_names:
        yield f"read and not set: {few([str(flag) for flag in unset_names], 20)}"
    if flags.computed:
        yield f"names of variables are computed at {few(list(flags.computed), 5)}"
