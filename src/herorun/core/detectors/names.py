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

# A discriminator's or critic's loss, or that of the model which it judges: one falls as the other
# rises.
_RIVAL = lazy_regex(
    r"(?:^|[/_.])(?:discriminator|disc?|d|generator|gen|g|critic|actor)(?:[/_.]|$)|(?:^|_)err[dg]$"
)
_EVAL = lazy_regex(r"(?:^|[/_.-])(?:eval|evaluation|val|valid|validation)(?:[/_.-]|$)")


def _joined(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")


def is_eval(name: str) -> bool:
    """Whether only an evaluation gives this metric, by its name.

    >>> [is_eval(name) for name in ("eval/loss", "val_loss", "train/loss", "value_loss")]
    [True, True, False, False]
    """
    return _EVAL.search(name) is not None


def is_rival(name: str) -> bool:
    """Whether this is the loss of one of two models that are trained against each other.

    >>> [is_rival(name) for name in ("loss_dis", "D_loss", "loss_G_adv", "errD", "critic/vf_loss")]
    [True, True, True, True, True]
    >>> [is_rival(name) for name in ("loss", "gae_loss", "z_loss", "rewards/chosen", "lm loss")]
    [False, False, False, False, False]
    """
    plain_name = _joined(name)
    is_loss = "loss" in plain_name or "err" in plain_name
    return is_loss and _RIVAL.search(plain_name) is not None


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
        self.rival = ""  # the first such column

    def __missing__(self, name: str) -> ColumnRole | None:
        if len(self) >= 2 * MOST_NAMES:  # a run that logs new names in each row
            self.clear()
        if not self.rival and is_rival(name):
            self.rival = name
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
