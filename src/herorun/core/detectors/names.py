"""Which role a column of the tracker has, by its name."""

import re
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from math import inf

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.row_bounds import MAX_NAMES

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
SKIPPED_STEP_NAMES = ("skipped", "skipped_step", "optim/skipped")
SCALES = (
    "loss_scale",
    "loss-scale",
    "train/loss_scale",
    "train/loss-scale",
    "optim/loss_scale",
    "grad_scale",
)
MIN_SCALE = 1.0
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

# Words of a model that judges another one, and of the other: the loss of one falls as that of the
# other rises. Each word alone may be a distance, a task or a data set.
_SIDES = (
    (("discriminator", "disc", "dis"), ("generator", "gen")),
    (("critic",), ("actor", "policy", "generator", "gen")),
    (("d",), ("g",)),
)
# A run with more columns of losses trains on tasks, domains or experts.
MAX_RIVAL_LOSSES = 6
_LETTER = lazy_regex(r"[a-z]_loss|loss_[a-z]")
_EVAL = lazy_regex(r"(?:^|[/_.-])(?:eval|evaluation|val|valid|validation)(?:[/_.-]|$)")


def _normalize_name(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")


def is_eval(name: str) -> bool:
    """Whether only an evaluation gives this metric, by its name.

    >>> [is_eval(name) for name in ("eval/loss", "val_loss", "train/loss", "value_loss")]
    [True, True, False, False]
    """
    return _EVAL.search(name) is not None


def _is_rival_loss(name: str) -> bool:
    return (
        "loss" in name.lower()
        and "scale" not in name.lower()
        and not is_eval(_normalize_name(name))
    )


def _other_sides(loss: str) -> set[str]:
    """The names that the other loss would have if two models were trained against each other.

    >>> sorted(_other_sides("train/loss_dis")), sorted(_other_sides("G_loss"))
    (['train/loss_gen', 'train/loss_generator'], ['d_loss'])
    >>> [_other_sides(name) for name in ("loss", "loss/g", "train/g_loss", "eval/gen_loss")]
    [set(), set(), set(), set()]
    """
    plain_name = _normalize_name(loss)
    is_letter = _LETTER.fullmatch(plain_name) is not None
    parts = re.split(r"([/_.])", plain_name) if _is_rival_loss(loss) else []
    others = set()
    for place, part in enumerate(parts):
        for sides in _SIDES:
            for own, other in (sides, sides[::-1]):
                if part in own and (len(part) > 1 or is_letter):
                    others |= {"".join((*parts[:place], o, *parts[place + 1 :])) for o in other}
    return others


def rival_of(loss: str, columns: Collection[str]) -> str:
    """The column of a model that is trained against that of the judged `loss`; "" if none is, or if
    there is a doubt, since a run that diverges must not stay unreported.

    >>> rival_of("loss_gen", ["loss_gen", "loss_dis"]), rival_of("loss", ["loss_gen", "loss_dis"])
    ('loss_dis', '')
    """
    return _rival_of(loss, tuple(columns))


@lru_cache(maxsize=1024)
def _rival_of(loss: str, columns: tuple[str, ...]) -> str:
    """The runs of a process have few names, and each asks eighteen times."""
    losses = [name for name in columns if _is_rival_loss(name)]
    total = any(name in LOSSES for name in losses)
    if total or len(losses) > MAX_RIVAL_LOSSES or not (others := _other_sides(loss)):
        return ""
    letters = [name for name in map(_normalize_name, losses) if _LETTER.fullmatch(name)]
    if _LETTER.fullmatch(_normalize_name(loss)) and len({*letters, _normalize_name(loss)}) > 2:
        return ""
    return next((name for name in losses if _normalize_name(name) in others), "")


def why_rival(name: str) -> str:
    """Why a rise of the loss need not be a fault in a run that reports such a column."""
    return (
        f"the run also logs {name!r}, so two models may train against each other, and the loss of "
        "one may rise"
    )


def precursor_of(name: str) -> int:
    """1 if growth of this metric precedes instabilities, -1 if a fall does, 0 if neither.

    >>> [precursor_of(name) for name in ("max_attn_logit/layer 3", "router/entropy", "entropy")]
    [1, -1, 0]
    """
    name_words = set(re.split(r"[^a-z0-9]+", _normalize_name(name).replace("_", " ")))
    name_words |= {word.removesuffix("s") for word in name_words}
    for direction, columns in ((1, RISING), (-1, FALLING)):
        if any(name_words.issuperset(parts) for parts in columns):
            return direction
    return 0


@dataclass(frozen=True, kw_only=True)
class Names:
    """The columns by role; for each role the first name that a row has is used."""

    loss: tuple[str, ...] = LOSSES
    watched: tuple[str, ...] = NORMS  # besides the loss: must be finite
    first_step: int = 0
    norm: tuple[str, ...] = NORMS
    rate: tuple[str, ...] = RATES  # of learning
    time: tuple[str, ...] = TIMES  # seconds a step
    speed: tuple[str, ...] = SPEEDS  # anything a second
    skipped: tuple[str, ...] = SKIPPED_STEP_NAMES
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
        usual = dict.fromkeys(self.scales, (MIN_SCALE, inf))
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
        self.losses: dict[str, None] = {}  # the columns of losses, as they came

    @property
    def rival(self) -> str:
        """The loss of a model that is trained against the one whose loss is judged; "" if none."""
        return next(filter(None, (rival_of(name, self.losses) for name in self.names.loss)), "")

    def __missing__(self, name: str) -> ColumnRole | None:
        if len(self) >= 2 * MAX_NAMES:  # a run that logs new names in each row
            self.clear()
        if len(self.losses) <= MAX_RIVAL_LOSSES and _is_rival_loss(name):
            self.losses[name] = None
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
        if not kind and any(part in _normalize_name(name) for part in WANDERING):
            kind = "wander"
        column_role = ColumnRole(
            kind, name in names.watched, name in names.declared, precursor_of(name)
        )
        return column_role if column_role != ColumnRole("", False, False) else None
