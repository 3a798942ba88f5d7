"""What each scheduler's own options ask for, as keys of `[hardware]`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders import a_contract, a_plan, answers
from herorun.checks.launch.hardware_mismatch import hardware_mismatch
from herorun.core.evidence import Offered, Sourced
from herorun.schedulers._iris import options as iris_options
from herorun.schedulers._nel.hardware import requested_hardware
from herorun.schedulers._ray.cluster import hardware_of
from herorun.schedulers._slurm import limits as slurm_limits, options as slurm_options
from wording import mentions

IRIS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    (
        {"tpu": "v5litepod-16"},
        {"accelerator": "v5litepod-16", "count": 16, "topology": "v5litepod-16"},
    ),
    (
        {"tpu": "v5p-256", "zone": "us-east5-a"},
        {"accelerator": "v5p-256", "count": 128, "topology": "v5p-256"},
    ),
    ({"gpu": "H100x8", "replicas": 2}, {"accelerator": "H100", "count": 16}),
    ({"reserve": ("4:H100x8",)}, {"accelerator": "H100", "count": 32}),
]


@pytest.mark.parametrize(("options", "hardware"), IRIS)
def test_iris(options: dict[str, Any], hardware: dict[str, Any]) -> None:
    request = iris_options.requested_hardware(
        iris_options.Options(cluster="c", user="ada", **options)
    )

    assert {name: value for name, value in request.hardware.items() if name != "region"} == hardware
    assert request.hardware.get("region") == ((options["zone"],) if "zone" in options else None)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("--gpus-per-node=h100:8",), 32),
        (("--gpus-per-task=1", "--ntasks=16"), 16),
        (("--gpus-per-task=1", "--ntasks-per-node=8"), 32),
    ],
)
def test_slurm_by_its_further_arguments(arguments: tuple[str, ...], count: int) -> None:
    options = slurm_options.Options(nodes=4, arguments=arguments)

    assert slurm_limits.parse_offer("", options).hardware["count"] == count


@pytest.mark.parametrize(
    ("resources", "hardware"),
    [
        (["TPU-v5litepod-16-head"], {"accelerator": "v5e", "count": 16}),
        (["accelerator_type:H100"], {"accelerator": "H100"}),
        (["accelerator_type:TPU-V5P"], {"accelerator": "v5p"}),
        (["mine"], {}),
    ],
)
def test_ray_by_the_resources_of_the_entrypoint(
    resources: list[str], hardware: dict[str, Any]
) -> None:
    assert hardware_of((), {}, resources)[0] == hardware


@pytest.mark.parametrize(
    ("words", "text", "hardware"),
    [
        ((), "execution:\n  num_nodes: 2\n  gres: gpu:8\n", {"count": 16}),
        (
            ("execution.gres=gpu:h100:4",),
            "execution:\n  gres: gpu:8\n",
            {"accelerator": "h100", "count": 4},
        ),
        (
            (),
            "execution:\n  resource_shape: gpu.8xh100-sxm\n",
            {"accelerator": "h100-sxm", "count": 8},
        ),
        ((), "target: {}\n", {}),
        (
            ("++execution.tpu=v5litepod-16",),
            "execution: {}\n",
            {"accelerator": "v5litepod-16", "count": 16, "topology": "v5litepod-16"},
        ),
    ],
)
def test_nel_by_its_configuration(
    tmp_path: Path, words: tuple[str, ...], text: str, hardware: dict[str, Any]
) -> None:
    (tmp_path / "eval.yaml").write_text(text)
    plan = replace(a_plan(), argv=Sourced(("eval.yaml", *words), ""))

    assert requested_hardware(str(tmp_path), plan).hardware == hardware


def test_a_configuration_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    plan = replace(a_plan(), argv=Sourced(("eval.yaml",), ""))

    assert mentions(requested_hardware(str(tmp_path), plan).partial, "read")


def test_another_slice_than_the_contracts_blocks() -> None:
    contract = a_contract(hardware={"accelerator": "v5p", "count": 256, "region": "us-east5"})
    options = iris_options.Options(
        cluster="c", user="ada", tpu="v5litepod-16", region=("us-east5",)
    )

    verdicts = answers(hardware_mismatch, contract, iris_options.requested_hardware(options))

    assert [(v.subject, v.outcome) for v in verdicts] == [
        ("accelerator", "fail"),
        ("count", "fail"),
        ("region", "pass"),
    ]


def test_a_slice_by_its_type_is_the_contracts_in_chips_or_cores() -> None:
    offer = Offered({"accelerator": "v5p-256", "count": 128, "topology": "v5p-256"})
    for count in (128, 256):
        contract = a_contract(hardware={"accelerator": "v5p", "count": count, "topology": "4x4x8"})
        assert {v.outcome for v in answers(hardware_mismatch, contract, offer)} == {"pass"}
