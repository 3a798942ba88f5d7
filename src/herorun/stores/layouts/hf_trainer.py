"""Checkpoints of the Hugging Face Trainer: `<root>/checkpoint-<N>/`, with `trainer_state.json`
written after the rest.

The weights come first, then optimizer, scheduler and random state, then the trainer's state with
its `global_step`.
Some versions save under `tmp-checkpoint-<N>` and rename. Source: huggingface/transformers,
src/transformers/trainer.py (_save_checkpoint) and trainer_utils.py (get_last_checkpoint).
"""

from dataclasses import replace

from herorun.core.evidence import Candidate
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, Layout, Place, Store
from herorun.stores.layouts._contents import (
    contents,
    marker,
    marker_time,
    missing_shard,
    parse_object,
    visible,
    wrong_step,
)
from herorun.stores.layouts._naming import NamedLayout, stem

MARKER = "trainer_state.json"
_WEIGHTS = lazy_regex(
    r"(?:model|adapter_model|pytorch_model)(?:-[0-9]+-of-[0-9]+)?\.(?:safetensors|bin)"
    r"|pytorch_model_fsdp\.bin|pytorch_model_fsdp_[0-9]+/|global_step[0-9]+/"
)
_INDEX = lazy_regex(r"(?:model\.safetensors|pytorch_model\.bin)\.index\.json")


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Layout:
    return HfTrainer()


class HfTrainer(NamedLayout):
    """See `core.ports.Layout`. A read of the trainer's state and one listing a checkpoint."""

    naming = stem("checkpoint-")

    def examine(self, store: Store, candidate: Candidate) -> Candidate | None:
        data = marker(store, f"{candidate.path}/{MARKER}")
        files = contents(store, candidate.path)
        if files is None:
            return None
        names = visible(files) - {MARKER}
        if data is None:
            why = f"no {MARKER}" if names else f"no {MARKER}: the folder is empty"
            return replace(candidate, problem=why)
        state = parse_object(data)
        problem = (
            f"{MARKER} is not JSON"
            if state is None
            else wrong_step(MARKER, state.get("global_step"), candidate.step)
            or _without_weights(names)
        )
        return replace(candidate, modified=marker_time(files, MARKER, candidate), problem=problem)


def _without_weights(names: set[str]) -> str:
    missing = missing_shard(names)
    if missing:
        return f"the weights are incomplete: {missing} is missing"
    if any(_WEIGHTS.fullmatch(name) for name in names):
        return ""
    index = next((name for name in names if _INDEX.fullmatch(name)), None)
    return f"{MARKER} has no complete weights next to it: " + (
        f"only {index} is there" if index else "there are no weights"
    )
