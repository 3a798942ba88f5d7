"""One list of Jobs from a real API server: by kubectl, as the adapter asks, compared with two
Python clients.

Fresh is a whole process that imports what it needs and lists once, as a command does. Warm is one
list of many in a process that goes on, as a babysitter's.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.timing import BESIDE, LeftOut, Row

TESTS = Path(__file__).parents[1] / "tests"
ROUNDS = 9
LISTS = 20
JOBS = 50
# Each defines `ask`, which answers how many Jobs there are. argv: kubeconfig, kubectl, lists.
OURS = """
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.options import Options
kube = Kubectl(Options.model_validate(dict(context="test", namespace="bench", image="x",
    code="shared", kubeconfig=sys.argv[1], program=sys.argv[2])))
def ask():
    return len(kube.get(kube.path("batch/v1", "jobs"))["items"])
"""
LIGHTKUBE = """
from lightkube import Client, KubeConfig
from lightkube.resources.batch_v1 import Job
client = Client(config=KubeConfig.from_file(sys.argv[1]).get(context_name="test"))
def ask():
    return len(list(client.list(Job, namespace="bench")))
"""
OFFICIAL = """
import warnings
warnings.simplefilter("ignore")
from kubernetes import client, config
config.load_kube_config(sys.argv[1], context="test")
jobs = client.BatchV1Api()
def ask():
    return len(jobs.list_namespaced_job("bench").items)
"""
WHOLE = """
import json, resource, sys
from time import perf_counter
%s
def cpu():
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)
many = int(sys.argv[3])
assert ask() == %d
before, began = cpu(), perf_counter()
for _ in range(many):
    ask()
if many:
    print(json.dumps([(perf_counter() - began) / many, (cpu() - before) / many]))
"""
CLIENTS = {
    "`lightkube`": (BESIDE, LIGHTKUBE),
    "the official `kubernetes`": (BESIDE, OFFICIAL),
}
Cost = tuple[float, float]  # wall and CPU, in seconds


def rows(home: Path) -> Iterator[Row | LeftOut]:
    sys.path.append(str(TESTS))  # whose modules import each other from there
    services: Any = import_module("services.k8s")
    if why := services.missing():
        yield LeftOut(why)
        return
    clients = {name: client for name, client in CLIENTS.items() if can_import(*client)}
    (home / "k8s").mkdir()
    with services.standing(home / "k8s" / "up") as control:
        config = kubeconfig_with_jobs(control)
        access = (config, services.kubectl())
        yield from measure_clients({"ours": (Path(sys.executable), OURS), **clients}, access)
    for name in CLIENTS.keys() - clients.keys():
        yield LeftOut(f"{name} client: it could not be installed")


def kubeconfig_with_jobs(control: Any) -> str:
    """A kubeconfig to a namespace with Jobs that nothing runs."""
    space = control.namespace("bench")
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
    for number in range(JOBS):
        body = {"metadata": {"name": f"tiny-{number}"}, "spec": {"template": {"spec": pod}}}
        control.ask("POST", f"/apis/batch/v1/namespaces/{space}/jobs", body)
    return str(control.kubeconfig())


def can_import(python: Path, text: str) -> bool:
    words = [line for line in text.splitlines() if line.startswith("from ")]
    argv = [str(python), "-c", "\n".join(words)]
    return python.exists() and not subprocess.run(argv, capture_output=True, check=False).returncode


def measure_clients(
    clients: Mapping[str, tuple[Path, str]], access: tuple[str, str]
) -> Iterator[Row | LeftOut]:
    for what, measure in {"fresh process": fresh, "warm": warm}.items():
        acts = {name: partial(measure, *client, access) for name, client in clients.items()}
        costs = costs_in_turns(acts)
        ours = costs.pop("ours")
        for name, cost in costs.items():
            for number, unit in enumerate(("wall", "CPU")):
                yield Row(
                    f"one list of {JOBS} Jobs by `kubectl`, {what}, {unit}",
                    ours[number],
                    f"{name}, {what}, {unit}",
                    cost[number],
                )


def costs_in_turns(acts: Mapping[str, Callable[[], Cost]]) -> dict[str, Cost]:
    """The medians over the rounds, after one round to warm up."""
    rounds = [{name: act() for name, act in acts.items()} for _ in range(ROUNDS + 1)][1:]
    return {
        name: (median(each[name][0] for each in rounds), median(each[name][1] for each in rounds))
        for name in acts
    }


def fresh(python: Path, text: str, access: tuple[str, str]) -> Cost:
    before, began = children(), perf_counter()
    list_pods(python, text, access, 0)
    return perf_counter() - began, children() - before


def warm(python: Path, text: str, access: tuple[str, str]) -> Cost:
    wall, cpu = json.loads(list_pods(python, text, access, LISTS))
    return wall, cpu


def list_pods(python: Path, text: str, access: tuple[str, str], many: int) -> str:
    argv = [str(python), "-c", WHOLE % (text, JOBS), *access, str(many)]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
