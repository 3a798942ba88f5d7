"""Which role a column of the tracker has, by its name."""

import re
from collections.abc import Mapping
from functools import cached_property
from math import inf

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.row_bounds import MOST_NAMES

# Levanter's, Hugging Face's and plain ones; then those of Megatron-LM, NeMo, torchtitan, MaxText,
# OLMo-core and Composer.
LOSSES = (
    "train/loss",
    "loss",
    "train_loss",
    "lm loss",
    "reduced_train_loss",
    "loss_metrics/global_avg_loss",
    "learning/loss",
    "train/CE loss",
    "loss/train/total",
)
NORMS = (
    "grad_norm",
    "grad/norm/total",
    "train/grad_norm",
    "grad-norm",
    "learning/raw_grad_norm",
    "optim/total grad norm",
    "l2_norm/grad/global",
)
RATES = (
    "lr",
    "learning_rate",
    "optim/learning_rate",
    "train/learning_rate",
    "learning-rate",
    "learning/current_learning_rate",
)
TIMES = (
    "step_time_s",
    "step_time",
    "throughput/duration",
    "perf/step_time",
    "perf/step_time_seconds",
)
SPEEDS = (
    "tokens_per_s",
    "throughput/tokens_per_second",
    "tokens_per_second",
    "samples_per_s",
    "throughput(tps)",
    "throughput/device/TPS",
)
SKIPPED = ("skipped", "skipped_step", "optim/skipped")
SCALES = (
    "loss_scale",
    "loss-scale",
    "train/loss_scale",
    "train/loss-scale",
    "optim/loss_scale",
    "grad_scale",
)
LEAST_SCALE = 1.0
# Seconds that an evaluation took: Levanter's, Hugging Face's.
EVAL_TIMES = ("eval/total_time", "eval/runtime", "eval_runtime", "eval_time_s")
SAVE_TIMES = ("checkpoint_time_s", "save_time_s")  # seconds that training waited for a save
# parts of names, with any separator
WANDERING = ("z_loss", "router", "load_balanc", "aux_loss")

# Columns that are known to grow, or to fall, before a loss diverges: the words that the name must
# contain.
RISING = (
    ("attn", "logit"),
    ("attention", "logit"),
    ("g2", "v"),
    ("update", "rms"),
    ("grad", "clipped"),
    ("step", "clipped"),
    ("max", "load"),
    ("load", "imbalance"),
)
FALLING = (("router", "entropy"), ("routing", "entropy"))

# The loss of a model that judges another one, and that of the other: one falls as the other rises.
# `dis` may also be a distance, and `gen` a task: only both together are rivals.
_JUDGE = lazy_regex(r"(?:^|[/_.])(?:discriminator|disc?|d|critic)(?:[/_.]|$)")
_JUDGED = lazy_regex(r"(?:^|[/_.])(?:generator|gen|g|actor|policy)(?:[/_.]|$)")
_EVAL = lazy_regex(r"(?:^|[/_.-])(?:eval|evaluation|val|valid|validation)(?:[/_.-]|$)")


def _joined(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")


def is_eval(name: str) -> bool:
    """Whether only an evaluation gives this metric, by its name.

    >>> [is_eval(name) for name in ("eval/loss", "val_loss", "train/loss", "value_loss")]
    [True, True, False, False]
    """
    return _EVAL.search(name) is not None


def side_of(name: str) -> int:
    """Whose loss this is, where two models are trained against each other: 1 of a discriminator or
    critic, -1 of the model that it judges, 0 of neither.

    >>> [side_of(name) for name in ("loss_dis", "D_loss", "critic/vf_loss", "loss_G_adv")]
    [1, 1, 1, -1]
    >>> [side_of(name) for name in ("loss", "gae_loss", "z_loss", "rewards/chosen", "lm loss")]
    [0, 0, 0, 0, 0]
    """
    plain_name = _joined(name)
    if "loss" not in plain_name:
        return 0
    return 1 if _JUDGE.search(plain_name) else -1 if _JUDGED.search(plain_name) else 0


def why_rival(name: str) -> str:
    """Why a rise of the loss need not be a fault in a run that reports such a column."""
    return f"{name!r} is of two models that train against each other: the loss of one may rise"


def precursor_of(name: str) -> int:
    """1 if growth of this metric precedes instabilities, -1 if a fall does, 0 if neither.

    >>> [precursor_of(name) for name in ("max_attn_logit/layer 3", "router/entropy", "entropy")]
    [1, -1, 0]
    """
    name_words = set(re.split(r"[^a-z0-9]+", _joined(name).replace("_", " ")))
    name_words |= {word.removesuffix("s") for word in name_words}
    for direction, columns in ((1, RISING), (-1, FALLING)):
        if any(name_words.issuperset(parts) for parts in columns):
            return direction
    return 0


@dataclass(frozen=True)
class Names:
    """The columns by role; for each role the first name that a row has is used."""

    loss: tuple[str, ...] = LOSSES
    watched: tuple[str, ...] = NORMS  # besides the loss: must be finite
    first_step: int = 0
    norm: tuple[str, ...] = NORMS
    rate: tuple[str, ...] = RATES  # of learning
    time: tuple[str, ...] = TIMES  # seconds a step
    speed: tuple[str, ...] = SPEEDS  # anything a second
    skipped: tuple[str, ...] = SKIPPED
    declared: tuple[str, ...] = ()  # metrics that the contract names, which must be reported
    bands: tuple[tuple[str, float, float], ...] = ()  # metric, least, most
    # of half precision: below 1 the optimizer has lost its gradients
    scales: tuple[str, ...] = SCALES
    phases: tuple[int, ...] = ()  # steps of declared phases, at which curves may change

    @cached_property
    def all_named(self) -> tuple[str, ...]:
        """Every metric that has a role by name."""
        groups = (
            self.loss,
            self.watched,
            self.norm,
            self.rate,
            self.time,
            self.speed,
            self.skipped,
            self.declared,
        )
        return tuple(dict.fromkeys(name for names in (*groups, self.scales) for name in names))

    def loss_of(self, values: Mapping[str, float]) -> float | None:
        for name in self.loss:
            if name in values:
                return values[name]
        return None

    @cached_property
    def band_of(self) -> Mapping[str, tuple[float, float]]:
        """The lowest and highest allowed value, by metric; a stated band comes before the default
        one.
        """
        usual = dict.fromkeys(self.scales, (LEAST_SCALE, inf))
        return {**usual, **{name: (least, most) for name, least, most in self.bands}}

    @cached_property
    def roles(self) -> "Roles":
        return Roles(self)


@dataclass(frozen=True)
class ColumnRole:
    """How a column is judged."""

    kind: str  # norm, rate, time, speed, band, wander, skipped, or nothing
    watched: bool  # must be finite
    declared: bool  # must be reported
    precursor: int = 0  # grows (1) or falls (-1) before a loss diverges


class Roles(dict[str, ColumnRole | None]):
    """The roles of columns, determined once for each name. The loss is handled separately."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names
        self.sides = {1: "", -1: ""}  # the first column of each side

    @property
    def rival(self) -> str:
        """A discriminator's or critic's loss; "" if there is none, or not the other side's."""
        return self.sides[1] if self.sides[-1] else ""

    def __missing__(self, name: str) -> ColumnRole | None:
        if len(self) >= 2 * MOST_NAMES:  # a run that logs new names in each row
            self.clear()
        if side := side_of(name):
            self.sides[side] = self.sides[side] or name
        self[name] = role = self._role(name)
        return role

    def _role(self, name: str) -> ColumnRole | None:
        names = self.names
        if name in names.loss:
            return None
        roles = {
            "norm": names.norm,
            "rate": names.rate,
            "time": names.time,
            "speed": names.speed,
            "band": tuple(names.band_of),
            "skipped": names.skipped,
        }
        kind = next((role for role, role_names in roles.items() if name in role_names), "")
        if not kind and any(part in _joined(name) for part in WANDERING):
            kind = "wander"
        column_role = ColumnRole(
            kind, name in names.watched, name in names.declared, precursor_of(name)
        )
        return column_role if column_role != ColumnRole("", False, False) else None
