"""What is optional in an adapter is declared, and every adapter has it as declared."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import herorun
from herorun.adapters import PORTS, adapter_kinds, adapter_module
from herorun.core.ports import Place, adapter, members, missing_members, tracker_traits
from ports.abilities import declared_members, misshapen_members

SOURCES = Path(herorun.__file__).parent
ADAPTERS = ("schedulers/", "trackers/", "stores/", "notifiers/")
# By the names that hold an adapter where it is asked: its port.
HOLDERS = {
    "scheduler": "schedulers",
    "_scheduler": "schedulers",
    "jobs": "schedulers.external",
    "_jobs": "schedulers.external",
    "tracker": "trackers",
    "issue": "notifiers",
    "notifier": "notifiers",
}


# By port and kind: the options without which nothing is connected. Nothing is asked of any.
NEEDED_OPTIONS: dict[tuple[str, str], dict[str, object]] = {
    ("schedulers", "iris"): {"user": "ada", "cluster": "marin"},
    ("schedulers", "kubernetes"): {
        "context": "train",
        "namespace": "heroes",
        "image": f"registry.test/train@sha256:{'0' * 64}",
        "code": "shared",
    },
    ("schedulers", "ray"): {"address": "http://127.0.0.1:8265"},
    ("schedulers", "ssh"): {"host": "box", "folder": "/jobs"},
    ("schedulers.external", "kubernetes"): {"cluster": "train/heroes"},
    ("schedulers.external", "ray"): {"cluster": "http://127.0.0.1:8265"},
    ("trackers", "mlflow"): {"project": "hero", "id": "a", "name": "a"},
    ("trackers", "trackio"): {"project": "hero", "id": "a", "name": "a"},
    ("trackers", "wandb"): {"entity": "ada", "project": "hero", "id": "a", "name": "a"},
    ("notifiers", "channel"): {"variable": "CHANNEL_URL"},
    ("notifiers", "github"): {"repo": "ada/hero"},
}


def connect_kinds(port: str) -> dict[str, object]:
    """What `connect` returns for each kind of the port."""
    place = Place("tiny", "/nowhere", "/nowhere", "/nowhere")
    return {
        kind: (module := adapter_module(port, kind)).connect(
            module.Options(**NEEDED_OPTIONS.get((port, kind), {})), place
        )
        for kind in adapter_kinds(port)
    }


def asked_members(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The port and the name of each member that is asked for by `getattr` or `hasattr`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="getattr" | "hasattr"),
                args=[ast.Name(id=holder) | ast.Attribute(attr=holder), ast.Constant(name), *_],
            ) if holder in HOLDERS:
                yield HOLDERS[holder], str(name)


@pytest.mark.parametrize("port", PORTS)
def test_every_adapter_has_its_members_as_declared(port: str) -> None:
    adapters = connect_kinds(port)
    assert len(adapters) >= 4
    assert {
        kind: (missing_members(PORTS[port], adapter), misshapen_members(port, adapter))
        for kind, adapter in adapters.items()
    } == {kind: ((), []) for kind in adapters}


def test_a_trackers_label_is_its_own() -> None:
    labels = {kind: tracker_traits(each).label for kind, each in connect_kinds("trackers").items()}
    names = {"wandb": "W&B", "wandb_offline": "W&B"}
    assert labels == {kind: names.get(kind, "Tracker") for kind in labels}


def test_each_optional_member_that_is_asked_for_is_declared() -> None:
    codes = [
        path.read_text(encoding="utf-8")
        for path in SOURCES.rglob("*.py")
        if not str(path.relative_to(SOURCES)).startswith(ADAPTERS)
    ]
    # to parse all of them takes a second
    members = {
        member for code in codes if "attr(" in code for member in asked_members(ast.parse(code))
    }
    assert len(members) >= 15
    assert {(port, name) for port, name in members if name not in declared_members(port)} == set()


@pytest.mark.parametrize(
    ("warnings", "misshapen"),
    [
        (lambda instance: (), []),
        (lambda instance, most=5: (), []),
        (lambda: (), ["warnings()"]),
        (lambda job: (), ["warnings(job)"]),
        (lambda instance, most: (), ["warnings(instance, most)"]),
    ],
)
def test_other_parameters_than_declared_are_found(warnings: object, misshapen: list[str]) -> None:
    adapter = SimpleNamespace(warnings=warnings)
    assert misshapen_members("schedulers", adapter) == misshapen


def test_an_undeclared_member_is_found_however_it_is_asked_for() -> None:
    tree = ast.parse("getattr(run.scheduler, 'colour', None)\nhasattr(jobs, 'taste')")
    assert set(asked_members(tree)) == {
        ("schedulers", "colour"),
        ("schedulers.external", "taste"),
    }
    assert not {"colour", "taste"} & (
        declared_members("schedulers") | declared_members("schedulers.external")
    )


class Annotated(type):
    """The classes of Python 3.14: what they annotate is no entry of their `vars`."""

    @property
    def __annotations__(cls) -> dict[str, type]:
        return {"cluster_wide": bool}


class Port(metaclass=Annotated):
    _is_protocol = True

    def __init__(self, **values: bool) -> None:
        self.values = values


def test_what_a_port_declares_is_read_from_python_3_14_on() -> None:
    assert "__annotations__" not in vars(Port)
    assert members(Port) == {"cluster_wide"}
    declared_traits = adapter._read_declared_traits(
        SimpleNamespace(cluster_wide=True, other=1), Port
    )
    assert declared_traits.values == {"cluster_wide": True}
