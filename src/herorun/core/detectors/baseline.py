"""The expected value of a curve and its noise: a winsorised exponential average of its logarithm.

A single value moves it by no more than three times the noise, so that a spike does not raise its
own expectation. A young average gives the newest rows more weight, because a curve begins steeply.
It never extrapolates: a falling loss that stops falling is no rise. But if the loss stays below it
row after row, it follows four times as fast: an average that lags above a falling curve would hide
a rise.
"""

from herorun.core.lazy_dataclass import dataclass

HALF_LIFE = 50  # rows
RATE = 1 - 2 ** (-1 / HALF_LIFE)
# rows before the level is used; until then the highest value so far is the expected one
SETTLE = 30
YOUNG = 50  # rows in which a value may move the level by 0.5, as a logarithm, even on a quiet curve
WEIGHT = 3  # how much more the newest row counts while the trend is young
CLIP = 3.0  # times the noise
LAG = 8  # consecutive rows below the level after which it follows faster
FOLLOW = 1 - 2 ** (-1 / 12)
FLOOR = 0.003  # smallest scale of the noise, in log units


@dataclass(slots=True, kw_only=True)
class Trend:
    level: float = 0.0  # of the logarithm
    scale: float = FLOOR  # of the noise around it
    rows: int = 0
    top: float = 0.0  # the highest value, while it is young
    last: float = 0.0
    jitter: float = 0.0  # the sum of the differences from row to row, while it is young
    below: int = 0  # consecutive rows below the level

    @property
    def young(self) -> bool:
        return self.rows < SETTLE

    def rows_until(self, limit: float) -> int:
        """How many more rows `scale` needs at least to come down to `limit`."""
        scale, rows = self.scale, self.rows
        while scale > limit:
            rows += 1
            rate = RATE if rows > YOUNG else max(RATE, WEIGHT / (rows + WEIGHT - 1))
            scale -= rate * scale
        return rows - self.rows

    def reset(self, y: float) -> None:
        """Discard the state, and begin again at this value."""
        self.level, self.scale, self.rows = y, FLOOR, 1
        self.top, self.last, self.jitter, self.below = y, y, 0.0, 0

    def learn(self, y: float) -> None:
        """Move towards a new value."""
        rows = self.rows
        if not rows:
            self.reset(y)
            return
        if rows < SETTLE:
            self.top = max(self.top, y)
            self.jitter += abs(y - self.last)
            self.last = y
        self.rows = rows = rows + 1
        excess, scale = y - self.level, self.scale
        if excess < 0.0:
            away = -excess
            self.below = below = self.below + 1
        else:
            away = excess
            self.below = below = 0
        widest = CLIP * scale
        if rows > YOUNG:
            rate = RATE if below <= LAG else FOLLOW
            move = excess if away < widest else (widest if excess > 0 else -widest)
        else:
            rate = max(RATE, WEIGHT / (rows + WEIGHT - 1))
            move = excess if away < 0.5 else (0.5 if excess > 0 else -0.5)
            widest = 9.0
        self.level += rate * move
        scale += rate * (1.2533 * (away if away < widest else widest) - scale)
        self.scale = scale if scale > FLOOR else FLOOR
