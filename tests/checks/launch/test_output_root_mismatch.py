import pytest

from builders import ROOT, TEMPORARY, a_contract, a_plan, answer, answers
from herorun.checks.launch.output_root_mismatch import output_root_mismatch
from herorun.core.evidence import OtherRoots, TrackerIdentity, TrackerState, Unavailable
from herorun.core.finding import Outcome

PARENT = "/data/parent"
OTHERS = OtherRoots({"parent": (PARENT, "gs://b/parent-temporary")})


NO_OTHERS = OtherRoots()


def ask(
    argv=(),
    env=None,
    config=None,
    resume=(),
    output=None,
    tracker=None,
    others=NO_OTHERS,
    start=None,
):
    command = {"argv": ["python", "train.py", *argv], "env": env or {}, "resume_argv": list(resume)}
    tables = {"start": {"from": start, "kind": "weights-only"}} if start else {}
    contract = a_contract(command=command, output=output or {}, **tables)
    tracker_identities = (
        [TrackerIdentity(state=TrackerState.FINISHED, config=tracker)] if tracker else []
    )
    return answers(
        output_root_mismatch, contract, a_plan(contract, config=config), others, *tracker_identities
    )


def wrong(**result):
    return [verdict.subject for verdict in ask(**result) if verdict.outcome is Outcome.FAIL]


def test_where_nothing_names_a_root_there_is_nothing_to_compare():
    assert answer(output_root_mismatch).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("result", "subject"),
    [
        ({"argv": ["--output-dir", "/old"]}, "argv --output-dir"),
        ({"argv": ["--output_dir=/old"]}, "argv --output_dir"),
        ({"argv": ["+trainer.output_dir=gs://b/old"]}, "argv +trainer.output_dir"),
        ({"argv": ["--save", "/old"]}, "argv --save"),
        ({"resume": ["python", "train.py", "--run-dir", "/old"]}, "resume_argv --run-dir"),
        ({"env": {"OUTPUT_DIR": "/old"}}, "env OUTPUT_DIR"),
        (
            {"config": {"trainer": {"checkpointer": {"base_path": "/old"}}}},
            "config trainer.checkpointer.base_path",
        ),
        ({"config": {"trainer.defaultRootDir": "/old"}}, "config trainer.defaultRootDir"),
        (
            {"config": {"callbacks": [{"model_checkpoint": {"dirpath": "/old"}}]}},
            "config callbacks.0.model_checkpoint.dirpath",
        ),
        ({"config": {"output_dir": f"{ROOT}2"}}, "config output_dir"),
        (
            {"config": {"output": {"root": ROOT, "temporary_root": "/old"}}},
            "config output.temporary_root",
        ),
        ({"config": {"output_dir": "/old/${name}"}}, "config output_dir"),
        ({"tracker": {"save_dir": "/old"}}, "tracker save_dir"),
        ({"argv": ["--out", "/old"]}, "argv --out"),
    ],
)
def test_another_root_fails_and_is_named_by_its_key(result, subject):
    assert wrong(**result) == [subject]


@pytest.mark.parametrize(
    "value",
    [
        ROOT,
        f"{ROOT}/",
        f"/{ROOT}//",
        f"file://{ROOT}",
        f"{ROOT}/checkpoints",
        TEMPORARY,
        "/data",  # the trainer appends the run's name
        "/data/${name}",
        "outputs",
        "/data/logs/job.out",
    ],
)
def test_what_agrees_or_is_no_place_passes(value):
    assert wrong(config={"trainer": {"output_dir": value}}) == []


@pytest.mark.parametrize(
    "config",
    [
        {"load": {"checkpoint_dir": "/parent"}},
        {"trainer": {"resume_output_dir": "/parent"}},
        {"data": {"cache": {"output_dir": "/cache"}}},
        {"tokenizer": {"save_dir": "/tokens"}},
        {"logging": {"run_dir": "/logs"}},
        {"profiler": {"output_path": "/traces"}},
        {"dataset": {"base_path": "/corpus"}},
        {"checkpoint": {"path": "/parent/step-1"}},
    ],
)
def test_what_a_run_reads_or_only_logs_is_no_output_root(config):
    assert wrong(config=config) == []


def test_urls_are_compared_as_a_whole():
    output = {"root": "gs://b/runs/tiny"}

    assert wrong(config={"output_dir": "gs://b/runs/tiny/"}, output=output) == []
    assert wrong(config={"output_dir": "s3://b/runs/tiny"}, output=output) == ["config output_dir"]


def test_each_value_that_differs_is_a_finding():
    assert wrong(argv=["--output-dir=/a"], env={"SAVE_DIR": "/b"}) == [
        "argv --output-dir",
        "env SAVE_DIR",
    ]


def test_a_tracker_that_cannot_be_asked_is_another_checks_matter():
    assert (
        answer(output_root_mismatch, {TrackerIdentity: Unavailable("503")}).outcome
        is Outcome.NOT_APPLICABLE
    )


@pytest.mark.parametrize(
    "argv",
    [["--output-dir", "results"], ["trainer.save_dir=./ckpt"], ["--checkpoint_dir=.."]],
)
def test_a_folder_of_the_exported_copy_is_no_root(argv):
    assert wrong(argv=argv) == [f"argv {argv[0].partition('=')[0]}"]


@pytest.mark.parametrize(
    "result",
    [
        {"argv": ["--checkpoint-dir", "checkpoints", "--output-dir", ROOT]},
        {"argv": ["--checkpoint-dir", "checkpoints"], "config": {"output_dir": ROOT}},
        {"argv": ["--output-dir", ROOT.rpartition("/")[2]]},  # joined to a base
        {"argv": ["--output-dir", "${base}/results"]},
        {"argv": ["--output", "json", "--save", "500"]},
        {"argv": ["--log-output-dir", "logs"]},
    ],
)
def test_a_relative_folder_next_to_the_root_or_joined_to_it_passes(result):
    assert wrong(**result) == []


@pytest.mark.parametrize(
    ("result", "subject"),
    [
        ({"argv": ["--place", PARENT]}, "argv --place"),
        ({"argv": [f"where={PARENT}/"]}, "argv where"),
        ({"argv": ["--workdir", f"{PARENT}/ckpt"]}, "argv --workdir"),
        ({"argv": ["sh", "-c", f"cd x && train --workdir {PARENT}"]}, "argv --workdir"),
        (
            {"argv": ["--workdir", PARENT, "--x", f"{ROOT}/metrics"], "env": {"TMPDIR": TEMPORARY}},
            "argv --workdir",
        ),
        ({"argv": ["--place", PARENT], "resume": ["train", "{start}"]}, "argv --place"),
        ({"resume": ["train", "--place", "gs://b/parent-temporary"]}, "resume_argv --place"),
        ({"env": {"PLACE": PARENT}}, "env PLACE"),
        ({"config": {"run": {"place": PARENT}}}, "config run.place"),
    ],
)
def test_a_root_of_another_run_is_found_under_any_key(result, subject):
    """A fork keeps its parent's command: it would write among the parent's checkpoints."""
    assert wrong(**result, others=OTHERS) == [subject]
    assert wrong(**result) == []


@pytest.mark.parametrize(
    "result",
    [
        {"argv": ["--model", PARENT]},
        {"argv": ["--load", PARENT]},
        {"argv": ["--finetune", PARENT]},
        {"argv": ["ft.py", PARENT]},
        {"argv": ["--vocabulary", f"{PARENT}/words.txt"]},
        {"argv": ["--place", f"{PARENT}/step-100"], "start": f"{PARENT}/step-100"},
        {"argv": ["--place", f"{PARENT}-2"]},
        {"argv": ["--place", PARENT, "--root", ROOT]},
        {"env": {"PLACE": PARENT, "HERE": ROOT}},
    ],
    ids=str,
)
def test_a_run_may_read_what_another_has_written(result):
    assert wrong(**result, others=OTHERS) == []
