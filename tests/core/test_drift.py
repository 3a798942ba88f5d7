"""What differs between two contracts, key by key."""

from builders import a_contract
from herorun.core.contract import plan_part
from herorun.core.drift import differences


def between(**changes):
    return differences(plan_part(a_contract()), plan_part(a_contract(**changes)))


def test_the_same_contract_differs_in_nothing():
    assert between() == ()


def test_a_change_is_named_by_its_dotted_key():
    assert between(checkpoints={"keep": 3}) == ("checkpoints.keep: 10 -> 3",)
    assert between(final_step=300) == ("final_step: 200 -> 300",)


def test_a_key_that_comes_or_goes_says_so():
    assert between(output={"temporary_root": None}) == (
        'output.temporary_root: "/data/tiny-temporary" -> not set',
    )
    assert between(command={"env": {"A": "1"}}) == ('command.env.A: not set -> "1"',)


def test_a_list_is_one_value():
    (line,) = between(command={"argv": ["python", "other.py"]})

    assert line.startswith('command.argv: ["python", "train.py"') and line.endswith(
        '-> ["python", "other.py"]'
    )


def test_what_does_not_enter_the_plan_is_no_drift():
    assert between(goal="another", babysit={"recovery": "ask"}) == ()
