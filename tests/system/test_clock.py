"""The clocks of this machine."""

import builtins

import pytest

from herorun.system import clock


def test_which_start_of_the_machine_it_is_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = clock.uptime()

    def refuse_read(*_: object, **__: object) -> None:
        raise OSError("read again")

    monkeypatch.setattr(builtins, "open", refuse_read)
    second = clock.uptime()
    monkeypatch.undo()
    assert first and second
    assert second.boot == first.boot and second.seconds >= first.seconds
