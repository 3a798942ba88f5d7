"""Each excursion of the loss names the loss, whether it continues or has ended: checks find the
curve by that name.
"""

import math

import pytest

from curves import fold_curve, summarise
from made_curves import BREAK, ROWS, clean

BREAKS = {
    "twice": (lambda i, loss: 2 * loss, {"spike", "elevated", "shifted"}),
    "four times, for five rows": (
        lambda i, loss: (4 if i < 5 else 1) * loss,
        {"spike", "elevated", "shifted"},
    ),
    "diverging": (lambda i, loss: loss * 1.05**i, {"spike", "elevated"}),
    "zero": (lambda i, loss: 0.0, {"collapsed"}),
    "one value": (lambda i, loss: math.log(50257), {"frozen"}),
}


@pytest.mark.parametrize("what", BREAKS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("goes_on", [True, False])
def test_an_excursion_names_its_metric(what, seed, goes_on):
    change, kinds = BREAKS[what]
    made_curve = clean(seed, (0.002,), shape="plateau")
    length = ROWS - BREAK if goes_on else 60
    rows = made_curve.break_at(lambda i, loss: change(i, loss) if i < length else loss)
    metrics = summarise(fold_curve(rows))
    excursions = (*metrics.excursions, *metrics.spikes)
    assert kinds <= {each.kind for each in excursions}
    assert {each.metric for each in excursions} == {"loss"}
