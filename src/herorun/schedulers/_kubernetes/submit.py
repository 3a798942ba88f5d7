"""Submitting a Job once, and only as it was sent: a dry run first, the name as the key, and what
was admitted compared again.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, describe_error
from herorun.core.evidence import Job
from herorun.core.ports import Place, Submission
from herorun.schedulers import _submission_record as keeping
from herorun.schedulers._idempotent import admitted_plan, taken_after
from herorun.schedulers._kubernetes.bundle import CODE_FOLDER, CodeArchive, bundle_of, with_bundle
from herorun.schedulers._kubernetes.client import Kubectl, NameTaken, ObjectNotFound, ReadRefusal
from herorun.schedulers._kubernetes.compare import differing_fields
from herorun.schedulers._kubernetes.dry_run import changed_fields
from herorun.schedulers._kubernetes.jobset import JOBSET, jobset_of, judge_admitted
from herorun.schedulers._kubernetes.kinds import ObjectKind
from herorun.schedulers._kubernetes.options import Options
from herorun.schedulers._kubernetes.parse import job_record
from herorun.schedulers._kubernetes.request import (
    MAX_ADMISSION,
    PLAN,
    RunFacts,
    admission_path,
    job_of,
    must_be_sound,
    root_of,
)
from herorun.schedulers._validate import must_be_instance
from herorun.system.files import read_regular

MAX_TEMPLATE_BYTES = 4 << 20  # bytes


class KubernetesSubmitter:
    """`find_submitted` looks for the Job of a name; `end` ends a Job by its uid."""

    def __init__(
        self,
        kube: Kubectl,
        kind: ObjectKind,
        options: Options,
        place: Place,
        *,
        folder: Path,
        find_submitted: Callable[[str], Job | None],
        end: Callable[[str, str, str], None],
    ) -> None:
        self._kube, self._options, self._place, self._folder = kube, options, place, folder
        self._kind, self._tolerated_fields = kind, options.ignore_changes
        self._find_submitted, self._end = find_submitted, end
        self._root = root_of(place.output_root)

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        """Asks first what would be admitted; the name is taken once, even if another process
        submits it.
        """
        instance = must_be_instance(submission.instance)
        document = self.document(submission, code, admission)
        self._must_have_secrets(submission)
        within = self._options.timeout.total_seconds()
        with keeping.submission_lock(self._folder, instance, within):
            new_submission = (
                self._find_submitted(instance)
                if keeping.read_submission(self._folder, instance).is_ours
                else None
            )
            return new_submission or self._submit_first(instance, document)

    def _submit_first(self, instance: str, document: Mapping[str, Any]) -> Job:
        """The dry run also shows whether the name is taken."""
        try:
            self._must_pass_dry_run(document)
        except NameTaken:
            return self._must_be_ours(instance, document)
        keeping.record_attempt(self._folder, instance)
        job = self._create(instance, document)
        keeping.record_id(self._folder, instance, job.id)
        return job

    def document(self, submission: Submission, code: str, admission: str) -> dict[str, Any]:
        must_be_sound(submission, self._options)
        is_unread = admission.startswith("<")
        plan = "" if is_unread else admitted_plan(admission)
        if self._options.code == "shared":
            facts = RunFacts(self._root, plan, code, admission)
        else:
            text = "<the admission>" if is_unread else _text_of(admission)
            folder = self._options.folder or CODE_FOLDER
            facts = RunFacts(self._root, plan, folder, admission_path(), text)
        job = job_of(submission, self._options, facts, self._template(code))
        if bundle := self.bundle(code):
            template = with_bundle(job["spec"]["template"], bundle, self._options)
            job["spec"]["template"] = template
        return jobset_of(job, self._options) if self._kind == JOBSET else job

    def bundle(self, code: str) -> CodeArchive | None:
        if self._options.code != "bundle":
            return None
        return bundle_of(code, self._place.output_root)

    def _template(self, code: str) -> Mapping[str, Any]:
        """As the code folder has it; before there is one, as the work tree does."""
        name = self._options.pod_template
        if name is None:
            return {}
        from herorun.core.config.yaml_text import parse_yaml

        top = Path(self._place.repository if code.startswith("<") else code)
        try:
            template = parse_yaml(read_regular(top / name, MAX_TEMPLATE_BYTES))
        except (OSError, ValueError) as error:
            raise WrongUse(
                f"[scheduler] pod_template cannot be read: {describe_error(error)}."
            ) from None
        if not isinstance(template, dict):
            raise WrongUse(f"[scheduler] pod_template: {name} is not a YAML mapping.")
        return template

    def _must_have_secrets(self, submission: Submission) -> None:
        """A pod without one never starts, and its Job stays active."""
        for name in submission.secrets:
            secret, _, key = self._options.secrets[name].partition("/")
            if self._has_secret(secret, key) is False:
                raise WrongUse(
                    f"{submission.instance} needs {name}, and {self._kube.where} has no key {key} "
                    f"in a Secret {secret}."
                )

    def _has_secret(self, secret: str, key: str) -> bool | None:
        """None if this login may not read it. Only the names of its keys are brought here."""
        try:
            keys = self._kube.names_in("secret", secret)
        except ObjectNotFound:
            return False
        except ReadRefusal:
            return None
        return key in keys

    def _must_pass_dry_run(self, document: Mapping[str, Any]) -> None:
        """A dry run: what the server would admit."""
        self._must_have_none(document, changed_fields(self._kube, document, self._tolerated_fields))

    def _path(self, name: str = "", **query: str) -> str:
        return self._kube.path(self._kind.version, self._kind.plural, name, **query)

    def _must_match(
        self, document: Mapping[str, Any], admitted_document: Mapping[str, Any]
    ) -> None:
        self._must_have_none(
            document, differing_fields(document, admitted_document, self._tolerated_fields)
        )

    def _must_have_none(self, document: Mapping[str, Any], odd: tuple[str, ...]) -> None:
        if odd:
            raise WrongUse(
                f"{document['metadata']['name']} was not submitted: in {self._kube.where} "
                f"{odd[0]}. Change the request, or name the field under [scheduler] ignore_changes."
            )

    def _create(self, instance: str, document: Mapping[str, Any]) -> Job:
        try:
            admitted_document = self._kube.create(self._path(fieldManager="herorun"), document)
        except NameTaken:
            return self._must_be_ours(instance, document)
        except CouldNotLook as error:
            return taken_after(lambda: self._find_submitted(instance), error)
        self._keep_if_matching(instance, document, admitted_document)
        return judge_admitted(admitted_document)

    def _keep_if_matching(
        self, instance: str, document: Mapping[str, Any], admitted_document: Mapping[str, Any]
    ) -> None:
        """End a job at once whose admitted form differs from the dry run's."""
        try:
            self._must_match(document, admitted_document)
        except WrongUse:
            with suppress(HerorunError):
                self._end(job_record(admitted_document).uid, instance, "herorun")
            raise

    def _must_be_ours(self, instance: str, document: Mapping[str, Any]) -> Job:
        """The same request was quicker; another plan under this name is not ours."""
        record = job_record(self._kube.get(self._path(instance)))
        plan = document["metadata"]["annotations"][PLAN]
        if record.root != self._root or record.annotations.get(PLAN, "") != plan:
            raise WrongUse(
                f"{self._kube.where} already has a {self._kind.title} {instance}, of another plan "
                "or not made by herorun: choose another slug."
            )
        job = self._find_submitted(instance)
        if job is None:
            raise CouldNotLook(
                f"{self._kube.where} accepted {instance}, but no longer lists it. Repeat the "
                "command: it looks for the job before it submits."
            )
        return job


def _text_of(admission: str) -> str:
    try:
        text = Path(admission).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise WrongUse(f"The admission cannot be sent along: {describe_error(error)}.") from None
    size = len(text.encode())
    if size > MAX_ADMISSION:
        raise WrongUse(
            f"The admission has {size >> 10} KiB, more than the {MAX_ADMISSION >> 10} KiB that "
            'travel with a pod: set [scheduler] code = "shared".'
        )
    return text
