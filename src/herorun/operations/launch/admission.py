"""The admission: what check-in compares with, written before the job is submitted."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from herorun import discover
from herorun.core.admission import digest_secret, digest_with_salt
from herorun.core.canonical_json import canonical, plain
from herorun.core.code.impact import of_impact
from herorun.core.config.key_classes import environment_classes
from herorun.core.contract import Contract, Impact
from herorun.core.environment import NEVER, SHELL, TRAINERS
from herorun.core.evidence import CodeFlags, ImportClosure, WorkTree
from herorun.core.module_provenance import code_roots
from herorun.core.plan import Plan
from herorun.core.ports import Scheduler, Submission, scheduler_traits, tracker_traits
from herorun.core.redaction.scrub import scrub_argv, scrub_tree
from herorun.core.requirements import exact_versions
from herorun.gather import gather
from herorun.runs import Run
from herorun.system.file_digest import file_digests
from herorun.system.files import write_atomic
from herorun.system.git import Repository
from herorun.system.git.commit_content import in_repository
from herorun.system.git.submodules import all_files


def write_admission(run: Run, plan: Plan, submission: Submission, code: str) -> Path:
    """The private file that check-in compares with: exactly what was admitted."""
    names = [path for path in all_files(run.repository, plan.code_commit) if path != run.file.path]
    start = plan.start.value
    configs = [in_repository(plan.cwd.value, name) for name in run.contract.config.files]
    admission = {
        "schema": 1,
        "slug": run.slug,
        "instance": submission.instance,
        "plan": plan.digest,
        "record": run.record.anchor,
        "commit": plan.commit.value,
        "tree": plan.code_tree.value,
        "code": code,
        "argv": _sealed_argv(submission.argv),
        "config": _digest_secrets(plan.config.value),
        "config_digests": file_digests(code, configs),
        "output_root": plan.output_root.value,
        # for check-ins of an earlier version
        "tracker_kind": plan.tracker.value.kind,
        "tracker_id_variable": tracker_traits(run.tracker).id_variable,
        "tracker_id": plan.tracker.value.id,
        "metrics": getattr(run.tracker, "rows_file", None),
        "start": start.path if start else None,
        "roots": code_roots(submission.argv, plan.cwd.value, names),
        "packages": exact_versions(plan.packages.value),
        "environment": _admitted_environment(run, plan, code),
        "hardware": plan.hardware.value,
        "files": file_digests(code, training_files(run, plan, code, names)),
    }
    path = run.state / "admissions" / submission.instance / "admission.json"
    write_atomic(path, (canonical(admission) + "\n").encode())
    return path


def salted_secrets(run: Run, plan: Plan) -> dict[str, str]:
    """Salted digests of the secrets that are sent from here, which show whether a value changed.
    None if the cluster supplies the secrets.
    """
    if scheduler_traits(run.scheduler).secrets_source is not None:
        return {}
    return {
        name: digest_with_salt(os.environ[name], os.urandom(8).hex())
        for name in plan.secrets.value
        if name in os.environ
    }


def _admitted_environment(run: Run, plan: Plan, code: str) -> dict[str, Any]:
    """What check-in compares the job's environment with. A plan of an earlier version contains only
    the contract's part.
    """
    from_shell = SHELL in plan.env.source
    traits = scheduler_traits(run.scheduler)
    flags = _gather_exported(run, plan, code, CodeFlags)
    secrets = dict.fromkeys(plan.secrets.value, "") | salted_secrets(run, plan)
    return {
        "values": _digest_secrets(plan.env.value),
        "secrets": secrets,
        "flags": sorted(flags.names) if from_shell and isinstance(flags, CodeFlags) else [],
        "watched": TRAINERS if from_shell else [],
        "ignored": (*NEVER, *traits.sets, "PYTHONUNBUFFERED"),
        "classes": environment_classes(run.contract.config),
        "whole": from_shell and traits.whole_environment,
    }


def _digest_secrets(value: Any, name: str = "") -> Any:
    """The config, with each secret in it (which a person accepted by a waiver) replaced by its
    digest.
    """
    if isinstance(value, Mapping) and value:
        return {key: _digest_secrets(item, str(key)) for key, item in value.items()}
    form = plain(value)
    (clean,) = scrub_tree({name: form}).values()
    return form if clean == form else digest_secret(form)


def _sealed_argv(argv: Sequence[str]) -> list[str]:
    """The same for a command line."""
    clean_argv = scrub_argv(tuple(argv))
    return [
        word if word == clean else digest_secret(word)
        for word, clean in zip(argv, clean_argv, strict=True)
    ]


def training_files(run: Run, plan: Plan, code: str, names: Sequence[str]) -> Sequence[str]:
    """Those files that can change the training; all of them if it is unknown what the command
    imports.
    """
    closure = _gather_exported(run, plan, code, ImportClosure)
    if not isinstance(closure, ImportClosure):
        return names
    return of_impact(names, run.contract.code.impact, closure.files, Impact.BLOCK)


def _gather_exported(run: Run, plan: Plan, code: str, kind: Any) -> Any:
    """Evidence about the exported code, and not about the checkout."""
    inputs = {
        Repository: replace(run.repository, top=Path(code)),
        Contract: run.contract,
        WorkTree: WorkTree(commit=plan.code_commit),
        Scheduler: run.scheduler,
    }
    return gather([kind], discover.sources(), inputs)[kind]
