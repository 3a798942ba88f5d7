"""A pod's log by offset: each byte once, wherever a second ends and whatever its node forgets."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from builders import NOON
from herorun.core.ports import LogPart
from herorun.schedulers._kubernetes.client import Kubectl
from herorun.schedulers._kubernetes.instance_logs import InstanceLogs
from herorun.schedulers._kubernetes.log_parts import LogMark, mark_of, part_of, stamped_lines
from herorun.schedulers._kubernetes.saved_log import is_recently_saved, keep_log, part_of_kept
from schedulers.test_kubernetes_requests import options
from schedulers.test_kubernetes_state import a_pod
from wording import mentions

ALL = 1 << 20
LATER = datetime(2027, 1, 1, tzinfo=UTC)


class Pod:
    """Its log, read as the API server does: what is not older than a whole second."""

    def __init__(self) -> None:
        self.lines: list[tuple[datetime, bytes]] = []

    def write(self, seconds: float, text: bytes) -> None:
        self.lines.append((NOON + timedelta(seconds=seconds), text))

    def answer(self, since: int) -> bytes:
        return b"".join(
            f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z ".encode() + line
            for at, line in self.lines
            if at.timestamp() >= since
        )

    def read(self, part: LogPart | None = None, limit: int = ALL) -> LogPart:
        mark = mark_of(part.mark) if part else LogMark("uid/0")
        assert mark is not None
        offset = part.offset if part else 0
        return part_of(stamped_lines(self.answer(mark.since)), mark, offset, limit, LATER)

    @property
    def text(self) -> bytes:
        return b"".join(line for _, line in self.lines)


@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 3000),
            st.lists(
                st.tuples(st.integers(-900, 0), st.sampled_from([b"a\n", b"bb\n"])),
                max_size=4,
            ),
            st.integers(0, 9),
        ),
        max_size=30,
    )
)
def test_no_byte_is_lost_or_read_twice(
    steps: list[tuple[int, list[tuple[int, bytes]], int]],
) -> None:
    """Lines of one second, lines that come late by less than a second, and parts that end within
    a line.
    """
    pod, clock, read = Pod(), 0, b""
    part = pod.read(limit=0)
    for wait, lines, limit in steps:
        clock += wait
        for late, line in lines:
            pod.write(max(0, clock + late) / 1000, line)
        part = pod.read(part, limit)
        read += part.data
        assert part.offset == len(read) and not part.restarted
        assert part.size == len(pod.text)
    read += pod.read(part).data
    assert read == pod.text


def test_only_the_last_seconds_are_read_again() -> None:
    pod = Pod()
    for second in range(600):
        pod.write(second, b"step\n")
    part = pod.read()
    mark = mark_of(part.mark)
    assert mark is not None and len(pod.answer(mark.since).splitlines()) < 10
    assert part.changed_at == NOON + timedelta(seconds=599)


def test_what_a_node_has_rotated_away_is_not_read_again() -> None:
    pod = Pod()
    for second in range(10):
        pod.write(second / 10, b"old\n")
    part = pod.read()
    pod.lines = pod.lines[6:]
    pod.write(1.5, b"new\n")
    assert pod.read(part).data == b"new\n"


def test_a_long_line_has_a_time_at_each_chunk_of_it() -> None:
    first, second = b"x" * (16 << 10), b"y" * 10
    stamp = b"2026-03-02T12:00:00.000000001Z "
    lines = stamped_lines(stamp + first + stamp + second + b"\n" + stamp + b"next\n")
    assert [line for _, line in lines] == [first + second + b"\n", b"next\n"]


def test_times_of_other_zones_and_lengths_are_the_same_moment() -> None:
    lines = stamped_lines(
        b"2026-03-02T12:00:00.5Z a\n2026-03-02T20:00:00.500000000+08:00 b\nno time\n"
    )
    assert len({at for at, _ in lines}) == 1
    assert [line for _, line in lines] == [b"a\n", b"b\n", b"no time\n"]


def test_a_bar_that_goes_back_to_its_start_is_one_line() -> None:
    stamp = b"2026-03-02T12:00:00Z "
    assert [line for _, line in stamped_lines(stamp + b"1%\r2%\n")] == [b"1%\r2%\n"]


@given(text=st.text(), mark=st.text(), offset=st.integers(0, 40), limit=st.integers(0, 40))
def test_whatever_is_answered_is_a_part_of_it(
    text: str, mark: str, offset: int, limit: int
) -> None:
    names = mark_of(mark) or LogMark("uid/0")
    lines = stamped_lines(text.encode())
    part = part_of(lines, names, offset, limit, LATER)
    assert len(part.data) <= limit and part.data in b"".join(line for _, line in lines)


def test_a_log_whose_pod_is_gone_is_read_as_it_was_kept(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        part_of_kept(tmp_path, "tiny-1", 0, ALL, "")
    assert not is_recently_saved(tmp_path, "tiny-1")
    keep_log(tmp_path, "tiny-1", "one\ntwo\n")
    assert is_recently_saved(tmp_path, "tiny-1")
    first = part_of_kept(tmp_path, "tiny-1", 0, 4, "")
    rest = part_of_kept(tmp_path, "tiny-1", first.offset, ALL, first.mark)
    assert first.data == b"one\n" and rest.data.startswith(b"two\n[the pod is gone")
    assert rest.offset == rest.size and not rest.restarted
    own = LogMark("uid/0").text  # of a reader who had the pod's own log
    after = part_of_kept(tmp_path, "tiny-1", 700, ALL, own)
    assert (after.data, after.offset, after.size, after.restarted) == (b"", 700, 700, False)


def test_what_a_kubelet_says_in_place_of_a_removed_log_is_no_log(tmp_path: Path) -> None:
    """Seen: its answer is 200, and its text was kept as the log of the run."""
    program, pod = tmp_path / "kubectl", a_pod("Running")
    (tmp_path / "pods").write_text(json.dumps({"items": [pod]}))
    words = f"unable to retrieve container logs for containerd://{'0a' * 32}"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in */log?*) printf %s "{words}" ;; *) cat {tmp_path}/pods ;; esac\n'
    )
    program.chmod(0o755)
    logs = InstanceLogs(Kubectl(options(program=str(program))), tmp_path)
    keep_log(tmp_path, "tiny-1", "begun\n")
    assert mentions(logs.tail("tiny-1", 20_000), "begun\n", "gone")
    assert logs.read_log("tiny-1", 0, ALL, "").data.startswith(b"begun\n")
    assert logs.tail("tiny-1", 20_000).startswith("begun\n")  # what was kept still is
    with pytest.raises(FileNotFoundError):
        logs.tail("tiny-2", 5)
