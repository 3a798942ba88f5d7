"""The Job that Kubernetes is sent. Pure: the same submission gives the same request.

Its name is the instance's, which the server takes once. Nothing starts it again: `backoffLimit: 0`,
`restartPolicy: Never`, and `podReplacementPolicy: Failed`, without which a pod that is deleted
is replaced while it still runs, for its whole grace period. There is no TTL: an ended job stays.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from herorun.core.canonical_json import digest
from herorun.core.environment import is_text
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Submission
from herorun.schedulers._kubernetes.options import Options

MAIN = "main"  # the container that is the run
RUN, INSTANCE, ROOT = "herorun/run", "herorun/instance", "herorun/root"  # labels
PLAN, ADMISSION = "herorun/plan", "herorun/admission"  # annotations
STOPPED_BY, STOPPED_AT = "herorun/stopped-by", "herorun/stopped-at"
QUEUE = "kueue.x-k8s.io/queue-name"
_VARIABLE = lazy_regex(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_FOLDER = "/herorun"  # in the container, where the admission appears
MAX_ADMISSION = (
    200 << 10
)  # bytes of an admission that travels as an annotation; all of them hold 256 KiB
_DECIDED_FIELDS = ("restartPolicy", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
_OF_MAIN = ("image", "command", "args", "workingDir")


@dataclass(frozen=True)
class RunFacts:
    """What the request says of the run, besides the submission."""

    root: str  # digest of the output root: one name may be used for two runs
    plan: str  # digest of the admitted plan
    code: str  # the code's folder where the pod runs
    admission: str  # its path where the pod runs
    text: str = ""  # the admission itself, where it travels along


def root_of(output_root: str) -> str:
    return digest(output_root).removeprefix("sha256:")[:16]


def must_be_sound(submission: Submission, options: Options) -> None:
    names = (*submission.env, *submission.secrets)
    wrong = [name for name in names if not _VARIABLE.fullmatch(name)]
    if wrong:
        raise WrongUse(
            f"{wrong[0]!r} is not a valid variable name in Kubernetes: rename it in [command]."
        )
    texts = (*submission.argv, submission.cwd, *submission.env.values())
    if any("\0" in word or not is_text(word) for word in texts):
        raise WrongUse(
            f"{submission.instance}: an argument, a variable or the cwd has a NUL character or is "
            "not UTF-8, which Kubernetes refuses: correct [command]."
        )
    lacking = [name for name in submission.secrets if name not in options.secrets]
    if lacking:
        raise WrongUse(
            f"{submission.instance} needs {', '.join(lacking)}: name the Secret and its key that "
            "hold it under [scheduler] secrets."
        )


def job_of(
    submission: Submission, options: Options, facts: RunFacts, template: Mapping[str, Any]
) -> dict[str, Any]:
    """The whole object."""
    labels = {
        RUN: submission.instance.rpartition("-")[0],
        INSTANCE: submission.instance,
        ROOT: facts.root,
    }
    queue = {QUEUE: options.queue} if options.queue else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": submission.instance,
            "labels": {**labels, **queue},
            "annotations": {PLAN: facts.plan},
        },
        "spec": {
            **_policy(options),
            "template": merge_template(template, _pod(submission, options, facts, labels)),
        },
    }


def _policy(options: Options) -> dict[str, Any]:
    backend = options.restarts == "backend"
    policy: dict[str, Any] = {
        "backoffLimit": options.retries if backend else 0,
        "parallelism": options.replicas,
        "completions": options.replicas,
        "podReplacementPolicy": "Failed",
    }
    if options.replicas > 1:
        policy["completionMode"] = "Indexed"
    if options.time_limit:
        policy["activeDeadlineSeconds"] = round(options.time_limit.total_seconds())
    if options.queue:
        policy["suspend"] = True
    return policy


def _pod(
    submission: Submission, options: Options, facts: RunFacts, labels: Mapping[str, str]
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": round(options.grace.total_seconds()),
        "containers": [_container(submission, options, facts)],
    }
    placement = {
        "nodeSelector": dict(options.node_selector),
        "priorityClassName": options.priority_class,
        "serviceAccountName": options.service_account,
    }
    spec |= {name: value for name, value in placement.items() if value}
    meta: dict[str, Any] = {"labels": dict(labels)}
    if facts.text:
        meta["annotations"] = {ADMISSION: facts.text}
        field = {"fieldPath": f"metadata.annotations['{ADMISSION}']"}
        items = [{"path": "admission.json", "fieldRef": field}]
        spec["volumes"] = [{"name": "herorun", "downwardAPI": {"items": items}}]
    return {"metadata": meta, "spec": spec}


def _container(submission: Submission, options: Options, facts: RunFacts) -> dict[str, Any]:
    env = {
        "PYTHONUNBUFFERED": "1",
        **submission.env,
        "HERORUN_INSTANCE": submission.instance,
        "HERORUN_ADMISSION": facts.admission,
        "HERORUN_CODE": facts.code,
        "HERORUN_ATTEMPT": "1",
        "HERORUN_MAIN_PID": "1",
    }
    plain = [{"name": name, "value": literal(value)} for name, value in env.items()]
    container: dict[str, Any] = {
        "name": MAIN,
        "image": options.image,
        "command": [literal(word) for word in submission.argv],
        "workingDir": f"{facts.code.rstrip('/')}/{submission.cwd}".removesuffix("/."),
        "env": [*plain, *(_secret(name, options.secrets[name]) for name in submission.secrets)],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if options.resources:
        amounts = dict(options.resources)
        container["resources"] = {"requests": amounts, "limits": amounts}
    if facts.text:
        container["volumeMounts"] = [{"name": "herorun", "mountPath": _FOLDER, "readOnly": True}]
    return container


def _secret(name: str, where: str) -> dict[str, Any]:
    secret, _, key = where.partition("/")
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def literal(word: str) -> str:
    """Kubernetes expands `$(NAME)` in words and values; a doubled dollar sign is one.

    >>> literal("$(HOME) costs $5")
    '$$(HOME) costs $$5'
    """
    return word.replace("$", "$$")


def admission_path() -> str:
    return f"{_FOLDER}/admission.json"


# --- a template of the user's own ----------------------------------------------------------------


def merge_template(template: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """The template with ours in it: tables key by key, lists of named things by their names."""
    _must_leave_ours(template)
    return dict(_merge(template, ours))


def _must_leave_ours(template: Mapping[str, Any]) -> None:
    spec = template.get("spec") or {}
    if set(template) - {"metadata", "spec"} or not isinstance(spec, Mapping):
        raise WrongUse(
            "[scheduler] pod_template must have no keys but `metadata` and `spec`, and `spec` "
            "must be a mapping."
        )
    main = [each for each in spec.get("containers") or () if _name(each) == MAIN]
    decided_fields = [name for name in _DECIDED_FIELDS if name in spec]
    decided_fields += [name for name in _OF_MAIN if main and name in main[0]]
    if decided_fields:
        raise WrongUse(
            f"[scheduler] pod_template sets {decided_fields[0]}, which herorun sets itself: "
            "remove it."
        )


def _merge(base: Any, ours: Any) -> Any:
    if isinstance(base, Mapping) and isinstance(ours, Mapping):
        both = {name: _merge(base[name], ours[name]) for name in base if name in ours}
        return {**base, **ours, **both}
    if isinstance(base, Sequence) and isinstance(ours, Sequence) and not isinstance(ours, str):
        return _merge_named(list(base), list(ours))
    return ours


def _merge_named(base: list[Any], ours: list[Any]) -> list[Any]:
    base_items = {_name(each): each for each in base if _name(each)}
    mine = [
        _merge(base_items[_name(each)], each) if _name(each) in base_items else each
        for each in ours
    ]
    names = {_name(each) for each in ours}
    return [*mine, *(each for each in base if _name(each) not in names or not _name(each))]


def _name(value: Any) -> str:
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""
