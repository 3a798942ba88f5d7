"""Accelerators by kind and count, and what a job sees of them."""

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from herorun.core.admission.devices import seen_devices
from herorun.core.admission.hardware import (
    Devices,
    compare_hardware,
    same_accelerator,
    same_count,
    same_topology,
    tpu,
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("v5p", "v5litepod-16", False),
        ("v5p", "v5p-256", True),
        ("v5p", "TPU v5", True),
        ("v5p-8", "v5p-256", False),
        ("v5e", "TPU v5 lite", True),
        ("v6e", "TPU v6 lite", True),
        ("v5litepod-16", "v5litepod-32", False),
        ("h100", "NVIDIA H100 80GB HBM3", True),
        ("nvidia-h100-sxm5", "H100", True),
        ("a100-40gb", "NVIDIA A100-SXM4-80GB", False),
        ("a100", "H100", False),
        ("h100", "h200", False),
        ("v5p", "h100", False),
        ("v100", "v5p", False),
        ("gpu", "H100", True),
        ("gpu", "cpu", False),
        ("v5p", "cpu", False),
        ("tpu", "v5p-8", True),
        ("tpu", "H100", False),
        ("cpu", "cpu", True),
    ],
)
def test_one_kind_by_many_names(one, other, same):
    assert same_accelerator(one, other) is same_accelerator(other, one) is same


def test_a_slice_by_its_type():
    assert [tpu(text) for text in ("H100", "v100", "8", "")] == [None] * 4
    assert tpu("v6e-64") == ("v6e", 64)


def test_a_count_may_be_the_cores_of_a_chip_that_has_two():
    assert same_count(256, 128, "v5p") and same_count(128, 128, "v5p")
    assert not same_count(256, 128, "v5litepod-256") and not same_count(256, 16, "v5p")


@pytest.mark.parametrize(
    ("stated_topology", "offer", "same"),
    [("4x4x8", "v5p-256", True), ("4x4", "v5litepod-32", False), ("11 x NVL72", "v5p-8", None)],
)
def test_a_topology_is_compared_where_both_can_be_read(stated_topology, offer, same):
    assert same_topology(stated_topology, offer) is same


STATED_HARDWARE = {"accelerator": "v5p", "count": 256}
FULL = Devices(("TPU v5",), (256,), "jax.devices()")


@pytest.mark.parametrize(
    ("devices", "outcome"),
    [
        (FULL, "pass"),
        (FULL._replace(counts=(128,)), "pass"),
        (FULL._replace(counts=(16,)), "fail"),
        (FULL._replace(counts=(16,), others=True), "unknown"),
        (FULL._replace(counts=(512,), others=True), "fail"),
        (FULL._replace(kinds=("cpu",)), "fail"),
        (FULL._replace(kinds=()), "unknown"),
        ("neither is imported", "unknown"),
    ],
)
def test_what_the_job_sees_against_the_contract(devices, outcome):
    (item,) = compare_hardware(STATED_HARDWARE, devices)
    assert (item.item, item.outcome) == ("hardware", outcome)


def test_a_contract_that_states_nothing_is_not_asked():
    assert compare_hardware({"region": "us-east5"}, FULL) == []


def library(**attributes: Any) -> Any:
    module = ModuleType("library")
    vars(module).update(attributes)
    return module


TPUS = [SimpleNamespace(device_kind="TPU v5 lite")] * 16


def test_jax_is_asked_only_where_it_has_begun():
    jax = library(devices=lambda: TPUS)
    modules = {"jax": jax, "jax._src.xla_bridge": library(_backends={"tpu": 1})}

    assert seen_devices(None, modules, {}) == (("TPU v5 lite",), (16,), "jax.devices()", False)
    not_begun = {**modules, "jax._src.xla_bridge": library(_backends={})}
    assert "devices=jax.devices()" in str(seen_devices(None, not_begun, {}))


def torch(local: int, is_started: bool = True, size: int = 0) -> Any:
    cuda = library(
        is_initialized=lambda: is_started,
        device_count=lambda: local,
        get_device_name=lambda n: "NVIDIA H100",
    )
    spread = library(
        is_available=lambda: True, is_initialized=lambda: size > 0, get_world_size=lambda: size
    )
    return {"torch": library(cuda=cuda, distributed=spread)}


@pytest.mark.parametrize(
    ("modules", "environment", "expectation"),
    [
        (torch(8), {}, (("NVIDIA H100",), (8,), False)),
        (torch(8, is_started=False), {}, ((), (8,), False)),
        (torch(8, size=16), {}, (("NVIDIA H100",), (16, 128), False)),
        (torch(8), {"WORLD_SIZE": "16"}, (("NVIDIA H100",), (16, 128), False)),
        (torch(8), {"SLURM_NNODES": "2"}, (("NVIDIA H100",), (8,), True)),
        (torch(0), {}, (("cpu",), (0,), False)),
    ],
)
def test_torch_and_the_processes_next_to_it(modules, environment, expectation):
    devices = seen_devices(None, modules, environment)
    assert isinstance(devices, Devices)
    assert (devices.kinds, devices.counts, devices.others) == expectation


@pytest.mark.parametrize(
    ("passed_count", "kinds", "count"),
    [
        (TPUS, ("TPU v5 lite",), 16),
        (["NVIDIA H100"] * 8, ("NVIDIA H100",), 8),
        ({"accelerator": "H100", "count": 8}, ("H100",), 8),
        (8, (), 8),
    ],
)
def test_what_is_passed_counts(passed_count, kinds, count):
    devices = seen_devices(passed_count, {"jax": None}, {})
    assert isinstance(devices, Devices) and (devices.kinds, devices.counts) == (kinds, (count,))


def test_a_library_that_raises_or_is_missing_is_no_difference():
    reason = "no back end"

    def raise_error() -> Any:
        raise RuntimeError(reason)

    assert reason in str(seen_devices(None, {"jax": library(devices=raise_error)}, {}))
    assert "check_in(devices=...)" in str(seen_devices(None, {}, {}))
