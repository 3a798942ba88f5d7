"""What trainers say of where the training begins, in their own words."""

import pytest

from herorun.core.triage.incremental import OwnLog, follow, verdict_of_log
from herorun.signatures import load_signature_set
from herorun.sources.job_log import job_log_of

LINES = [
    ("INFO:levanter.main.train_lm:No checkpoint found. Starting from scratch.", "scratch"),
    (
        (
            "2026-05-02 16:01:07 - 0 - levanter.checkpoint - checkpoint.py:321 - INFO :: "
            "Checkpoint not found at gs://b/run. Initializing from scratch."
        ),
        "scratch",
    ),
    (
        (
            "2026-05-02 levanter.checkpoint - WARNING :: No checkpoints found in "
            "gs://b/run/checkpoints"
        ),
        "none",
    ),
    ("INFO - Resuming training from step 2651", "resumed"),
    ("    will not load any checkpoints and will start from random", "scratch"),
    ("WARNING: could not find the metadata file /ckpt/latest_checkpointed_iteration.txt ", "none"),
    (
        "  successfully loaded checkpoint from /ckpt [ t 1/8, p 1/4 ] at iteration 4500",
        "resumed",
    ),
    ("[INFO|trainer.py:2000] 2026-05-02 >>   Continuing training from global step 4500", "resumed"),
    ("There were missing keys in the checkpoint model loaded: ['h.0.attn.weight'].", "part"),
    ("There were unexpected keys in the checkpoint model loaded: ['h.9.attn.weight'].", "part"),
    ("There were missing keys in the checkpoint model loaded: ['decoder.lm_head.weight'].", "part"),
    (
        "There were missing keys in the checkpoint model loaded: ['lm_head.weight', 'h.0.w'].",
        "part",
    ),
    (
        (
            "Some weights of GPT2LMHeadModel were not initialized from the model checkpoint at /m "
            "and are newly initialized: ['h.0.w']"
        ),
        "part",
    ),
    (
        (
            '/lib/lightning/rank_zero.py:1: UserWarning: .fit(ckpt_path="last") is set, but there '
            "is no last "
            "checkpoint available. No checkpoint will be loaded. HINT: Set `ModelCheckpoint(..., "
            "save_last=True)`."
        ),
        "scratch",
    ),
    ("Restored all states from the checkpoint at /out/epoch=1-step=4500.ckpt", "resumed"),
    ("Loaded model weights from the checkpoint at /out/last.ckpt", "weights"),
    ("[titan] 2026-05-02 16:00:00,123 - root - INFO - Training starts at step 1.", "scratch"),
    ("[titan] 2026-05-02 16:00:00,123 - root - INFO - Training starts at step 4501.", "resumed"),
    ("No existing checkpoints found, not restoring checkpoint.", "scratch"),
    ("restoring from this run's directory step 4499", "resumed"),
    (
        "restoring from this run's directory latest step           4499",
        "resumed",
    ),  # as older versions print it
    (
        (
            "No training checkpoint found. Initializing model from HF checkpoint "
            "'meta-llama/Llama-3.1-8B'"
        ),
        "weights",
    ),
    ("No valid checkpoint found in output directory (/out/tiny)", "none"),
    ("restoring params from params_path='gs://b/params'", "weights"),
    (
        (
            "[NeMo W 2026-05-02 16:46:47 exp_manager:601] There were no checkpoints found in "
            "checkpoint_dir or no "
            "checkpoint folder at checkpoint_dir :/result/checkpoints. Training from scratch."
        ),
        "scratch",
    ),
    (
        (
            "[WARNING] [engine.py:2700] Unable to find latest file at /ckpt/latest, if trying to "
            "load latest"
        ),
        "none",
    ),
    ("Checkpoint /ckpt/step-4500 is corrupted, falling back to the previous one", "older"),
    ("Failed to load checkpoint /ckpt/step-4500: EOF; trying step-4000", "older"),
]


def log_of(*lines: str):
    return job_log_of(load_signature_set(), follow_log(*lines))


def follow_log(*lines: str) -> OwnLog:
    return follow(
        load_signature_set(),
        OwnLog(instance="tiny-2"),
        "".join(f"{line}\n" for line in lines).encode(),
    )


@pytest.mark.parametrize(("line", "loads"), LINES)
def test_each_trainers_own_words(line: str, loads: str) -> None:
    text = log_of("step 1", line).loading

    # a line that finds none and goes on from scratch comes to the latter
    assert text[-1].loads == loads
    assert all(each.line == 2 for each in text)


@pytest.mark.parametrize(
    ("line", "step", "path"),
    [
        ("Resuming training from step 2651", 2651, ""),
        (
            "successfully loaded checkpoint from /ckpt [ t 1/8, p 1/4 ] at iteration 4500",
            4500,
            "/ckpt",
        ),
        ("Training starts at step 4501, with local batch size 1", 4500, ""),
        ("No checkpoints found in gs://b/run/checkpoints", None, "gs://b/run/checkpoints"),
        ("Restored all states from the checkpoint at /out/last.ckpt", None, "/out/last.ckpt"),
        ("restoring from this run's directory latest step           4499", 4499, ""),
    ],
)
def test_the_step_and_the_path_that_a_line_names(line: str, step: int | None, path: str) -> None:
    (output,) = log_of(line).loading

    assert (output.step, output.path) == (step, path)


@pytest.mark.parametrize(
    "line",
    [
        # tied to the embedding
        "There were missing keys in the checkpoint model loaded: ['lm_head.weight'].",
        "There were missing keys in the checkpoint model loaded: ['proj_out.weight'].",
        (
            "There were missing keys in the checkpoint model loaded: "
            "['encoder.embed_tokens.weight', "
            "'decoder.embed_tokens.weight', 'lm_head.weight']."
        ),
        (  # it loads the one that it was told
            "[NeMo W 2026-05-02 16:46:47 nemo_logging:405] There were no checkpoints found in "
            "checkpoint_dir or no "
            "checkpoint folder at checkpoint_dir :results/checkpoints. Training from /base/step-9."
        ),
        "missing keys: []",
        "Loading checkpoint from gs://b/run/step-120",
        "saved checkpoint to /ckpt/step-100",
        "Training from scratch is slower than fine-tuning",
        "Compiling the step function, this may take a while",
    ],
)
def test_what_says_nothing_of_what_was_loaded(line: str) -> None:
    assert log_of(line).loading == ()


def test_every_rank_says_it_and_it_counts_once() -> None:
    lines = [f"[rank{n}]: No checkpoint found. Starting from scratch." for n in range(64)]

    assert len([each for each in log_of(*lines).loading if each.loads == "scratch"]) == 1


def test_a_log_of_a_loader_that_fell_back_is_not_benign() -> None:
    """A long compilation behind it says nothing, and the log is all that there is."""
    log = follow_log("Loading checkpoint from /ckpt/step-120", "Starting from scratch", "Compiling")
    verdict = verdict_of_log(load_signature_set(), log, None)

    assert (verdict.failure, verdict.line) == (
        "not-a-failure",
        2,
    ) and "no checkpoint" in verdict.advice
    sound = verdict_of_log(
        load_signature_set(), follow_log("Resuming training from step 120", "step 121"), None
    )
    assert sound.failure == "benign"


WARNING_LINE = (
    "wandb: WARNING Tried to log to step {} that is less than the current step 120. Steps must be"
)


@pytest.mark.parametrize(
    "words",
    [
        WARNING_LINE,
        "WARNING: Step {} is less than the current step 120. Cowardly refusing to log metrics.",
        "Step {} is less than current W&B step 120",
        (
            "wandb: WARNING (User provided step: {} is less than current step: 120. Dropping "
            "entry: {{}})."
        ),
    ],
)
def test_the_rows_that_the_trackers_client_drops(words: str) -> None:
    dropped_rows = log_of("begin", *(words.format(n) for n in (0, 0, 1, 2))).dropped

    assert dropped_rows is not None
    assert (
        dropped_rows.first,
        dropped_rows.newest,
        dropped_rows.current,
        dropped_rows.steps,
        dropped_rows.line,
    ) == (
        0,
        2,
        120,
        3,
        5,
    )
    assert log_of("begin").dropped is None
