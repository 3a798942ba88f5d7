"""What is computed once for each object."""

import gc

from herorun.core.once_per_object import once_per_object


class Subject:
    def __init__(self, value: int) -> None:
        self.value = value


def test_it_is_computed_once_for_each_object() -> None:
    calls: list[int] = []

    @once_per_object
    def value_of(subject: Subject) -> int:
        calls.append(subject.value)
        return subject.value

    one, equal, other = Subject(1), Subject(1), Subject(2)
    assert [value_of(each) for each in (one, one, equal, other, one)] == [1, 1, 1, 2, 1]
    assert calls == [1, 1, 2]


def test_what_belongs_to_an_object_that_is_gone_is_told_of_no_other() -> None:
    value_of = once_per_object(lambda subject: subject.value)
    for number in range(1000):  # they get the numbers of those before
        assert value_of(Subject(number)) == number


def test_an_object_is_not_kept_alive() -> None:
    @once_per_object
    def value_of(subject: Subject) -> list[int]:
        return [subject.value]

    results = [value_of(subject := Subject(1))]
    del subject
    gc.collect()
    assert len(gc.get_referrers(results[0])) == 1


def test_an_error_is_raised_again() -> None:
    calls: list[Subject] = []

    @once_per_object
    def value_of(subject: Subject) -> int:
        calls.append(subject)
        raise ValueError(subject.value)

    subject = Subject(1)
    for _ in range(2):
        try:
            value_of(subject)
        except ValueError:
            continue
        raise AssertionError
    assert calls == [subject, subject]
