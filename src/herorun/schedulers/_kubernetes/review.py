"""What a cluster says of a request before it is submitted. Every answer is the server's own: a dry
run of the Job and of one of its pods passes its admission, its quotas and its webhooks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import RequestReview
from herorun.schedulers._kubernetes.client import (
    Kubectl,
    NameTaken,
    ObjectNotFound,
    ReadRefusal,
    ServerRefusal,
)
from herorun.schedulers._kubernetes.compare import quantity
from herorun.schedulers._kubernetes.dry_run import NOT_OURS, changed_fields
from herorun.schedulers._kubernetes.jobset import JOB, JOBSET, job_spec_of, kind_of
from herorun.schedulers._kubernetes.kueue import GROUP, PLURAL
from herorun.schedulers._kubernetes.options import Options
from herorun.schedulers._kubernetes.parse import items_of
from herorun.schedulers._kubernetes.priority import preemptors, priority_classes

OF_PODS = (("list", "", "pods", ""), ("get", "", "pods", "log"))
# `kubectl patch` reads the object first
OF_QUEUE = tuple((verb, GROUP, PLURAL, "") for verb in ("list", "get", "patch"))


def review_of(kube: Kubectl, options: Options, document: Mapping[str, Any]) -> RequestReview:
    unseen_parts: dict[str, str] = {}
    refusal, changes = _rehearse(kube, options, document)
    return RequestReview(
        where=kube.where,
        image=options.image,
        refused=refusal,
        changed=changes,
        forbidden=list_forbidden(kube, list_permissions(options)),
        missing=_or_unseen(
            unseen_parts, "missing", lambda: tuple(_missing_objects(kube, document))
        ),
        exceeded=_or_unseen(
            unseen_parts, "exceeded", lambda: tuple(_list_exceeded_quotas(kube, document))
        ),
        unplaceable=_or_unseen(
            unseen_parts, "unplaceable", lambda: tuple(_unplaceable(kube, document))
        ),
        preemptors=_or_unseen(unseen_parts, "preemptors", lambda: _preemptors(kube, document)),
        unseen=unseen_parts,
    )


def _preemptors(kube: Kubectl, document: Mapping[str, Any]) -> tuple[str, ...]:
    name = job_spec_of(document)["template"]["spec"].get("priorityClassName") or ""
    return tuple(preemptors(priority_classes(kube), str(name)))


def _or_unseen(
    unseen_parts: dict[str, str], field: str, query: Callable[[], tuple[str, ...]]
) -> tuple[str, ...]:
    """What this login may not read is neither there nor missing."""
    try:
        return query()
    except ReadRefusal as error:
        unseen_parts[field] = str(error)
        return ()


def _rehearse(
    kube: Kubectl, options: Options, document: Mapping[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        changes = changed_fields(kube, document, options.ignore_changes)
    except NameTaken:
        return (), ()
    except (WrongUse, ObjectNotFound) as error:
        return (str(error),), ()
    return _refused_pod(kube, document), changes


def _refused_pod(kube: Kubectl, document: Mapping[str, Any]) -> tuple[str, ...]:
    """A quota, a limit range, a priority class or a service account refuses pods, and the Job would
    be taken, and wait. A login that may not make pods itself learns nothing here.
    """
    template = job_spec_of(document)["template"]
    name = document["metadata"]["name"]
    pod = {"apiVersion": "v1", "kind": "Pod", **template}
    pod["metadata"] = {**template.get("metadata", {}), "name": name}
    try:
        kube.create(kube.dry_run_path("v1", "pods"), pod)
    except NameTaken:
        return ()
    except ServerRefusal as error:
        return () if NOT_OURS in str(error) else (str(error),)
    return ()


def list_permissions(options: Options) -> tuple[tuple[str, str, str, str], ...]:
    """Each verb that a run needs sooner or later, on what. Nothing is ever deleted."""
    kind = JOBSET if options.object == "jobset" else JOB
    verbs = ("create", "get", "list", "patch")
    own = tuple((verb, kind.group, kind.plural, "") for verb in verbs)
    jobs = (("list", JOB.group, JOB.plural, ""),) if kind == JOBSET else ()
    return (*own, *jobs, *OF_PODS, *(OF_QUEUE if options.queue else ()))


def list_forbidden(kube: Kubectl, verbs: Sequence[tuple[str, str, str, str]]) -> tuple[str, ...]:
    """Those that this login may not use, by one call."""
    reviews = [_access(kube.namespace, *each) for each in verbs]
    answers = kube.create_all({"apiVersion": "v1", "kind": "List", "items": reviews})
    if len(answers) != len(reviews):
        raise CouldNotLook(f"{kube.where} did not say what this login may do.")
    return tuple(_verb_and_resource(answer) for answer in answers if not _is_allowed(answer))


def _access(namespace: str, verb: str, group: str, resource: str, part: str) -> dict[str, Any]:
    attributes = {"namespace": namespace, "verb": verb, "group": group, "resource": resource}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "metadata": {},
        "spec": {"resourceAttributes": {**attributes, **({"subresource": part} if part else {})}},
    }


def _is_allowed(answer: Mapping[str, Any]) -> bool:
    return (answer.get("status") or {}).get("allowed") is True


def _verb_and_resource(answer: Mapping[str, Any]) -> str:
    attributes = (answer.get("spec") or {}).get("resourceAttributes") or {}
    what = "/".join(
        attributes[part] for part in ("resource", "subresource") if attributes.get(part)
    )
    return f"{attributes.get('verb', '?')} {what}"


def _missing_objects(kube: Kubectl, document: Mapping[str, Any]) -> Iterator[str]:
    """Secrets and ConfigMaps that a container could not start without."""
    for kind, name, key in sorted(set(_references(job_spec_of(document)["template"]["spec"]))):
        try:
            keys = kube.names_in(kind, name)
        except ObjectNotFound:
            yield f"{kind} {name}"
            continue
        if key and key not in keys:
            yield f"key {key} of {kind} {name}"


def _references(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
        for each in container.get("env", ()):
            source = each.get("valueFrom") or {}
            yield from _iter_reference("secret", source.get("secretKeyRef"))
            yield from _iter_reference("configmap", source.get("configMapKeyRef"))
        for each in container.get("envFrom", ()):
            yield from _iter_reference("secret", each.get("secretRef"))
            yield from _iter_reference("configmap", each.get("configMapRef"))
    for volume in spec.get("volumes", ()):
        secret = volume.get("secret") or {}
        yield from _iter_reference("secret", {**secret, "name": secret.get("secretName")})
        yield from _iter_reference("configmap", volume.get("configMap"))


def _iter_reference(kind: str, reference: Any) -> Iterator[tuple[str, str, str]]:
    if reference and reference.get("name") and not reference.get("optional"):
        yield kind, str(reference["name"]), str(reference.get("key") or "")


def _list_exceeded_quotas(kube: Kubectl, document: Mapping[str, Any]) -> Iterator[str]:
    """What all pods together ask for, against what each quota has left."""
    request = _total_request(document)
    for quota in items_of(kube.get(kube.path("v1", "resourcequotas"))):
        status = quota.get("status") or {}
        hard, used_amounts = status.get("hard") or {}, status.get("used") or {}
        for name, amount in request.items():
            limit, used_amount = quantity(hard.get(name)), quantity(used_amounts.get(name, "0"))
            if (
                name in hard
                and limit is not None
                and used_amount is not None
                and amount > limit - used_amount
            ):
                usage = f"{used_amounts.get(name, '0')} of {hard[name]} are used"
                yield f"{amount:f} {name} of quota {quota['metadata']['name']}, where {usage}"


def _total_request(document: Mapping[str, Any]) -> dict[str, Decimal]:
    spec = job_spec_of(document)
    many = Decimal(spec["parallelism"])
    request = {"pods": many, "count/jobs.batch": Decimal(1)}
    if kind_of(document) == JOBSET:
        request[f"count/{JOBSET.plural}.{JOBSET.group}"] = Decimal(1)
    for container in spec["template"]["spec"]["containers"]:
        for part, amounts in (container.get("resources") or {}).items():
            for name, amount in amounts.items():
                size = (quantity(amount) or Decimal(0)) * many
                for key in (f"{part}.{name}", name) if part == "requests" else (f"{part}.{name}",):
                    request[key] = request.get(key, Decimal(0)) + size
    return request


def _unplaceable(kube: Kubectl, document: Mapping[str, Any]) -> Iterator[str]:
    """Whether some node could take a pod, were it empty. Taints and affinities are not asked."""
    spec = job_spec_of(document)["template"]["spec"]
    selector = ",".join(f"{name}={value}" for name, value in spec.get("nodeSelector", {}).items())
    query = f"?{urlencode({'labelSelector': selector})}" if selector else ""
    nodes = items_of(kube.get(f"/api/v1/nodes{query}"))
    if not nodes:
        yield f"no node has the labels {selector}" if selector else "the cluster has no node"
        return
    amounts = [(each.get("status") or {}).get("allocatable") or {} for each in nodes]
    requests = (spec["containers"][0].get("resources") or {}).get("requests") or {}
    for name, amount in requests.items():
        request = quantity(amount) or Decimal(0)
        most = max((quantity(each.get(name, "0")) or Decimal(0) for each in amounts), default=0)
        if request > most:
            yield f"a pod asks for {amount} {name}, and no node for it has more than {most:f}"
