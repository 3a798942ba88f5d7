"""Reads a growing file on another machine from a given offset, mostly in one round trip."""

import io
import zlib
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

from herorun.core.errors import CouldNotLook
from herorun.core.remote.target import RemoteTarget
from herorun.system import _regular_file, _remote_agent, _remote_chunks
from herorun.system.remote_python import RemoteProgram, own_file, readable, remote_to

AHEAD = 4 << 20  # bytes that are fetched at once, compressed
BEFORE = 4096  # bytes before an offset, and at the start, by which a reader recognises a file
_THERE = RemoteProgram((own_file(_remote_agent), own_file(_regular_file), own_file(_remote_chunks)))


def open_remote(reach: RemoteTarget, path: str, offset: int) -> tuple[BinaryIO, float]:
    """The file's present state, and when it last changed by the machine's clock. The bytes around
    the offset are fetched at once.
    """
    first = max(0, offset - BEFORE)
    raw = RemoteFile(reach, path, [[0, BEFORE], [first, offset - first + AHEAD]])
    return cast(BinaryIO, io.BufferedReader(raw, 1 << 16)), raw.changed


class RemoteFile(io.RawIOBase):
    """A remote file. Its size is that of the first read: later data is left for the next read."""

    def __init__(self, reach: RemoteTarget, path: str, spans: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self._reach, self._path, self._at = reach, path, 0
        self._blocks: list[tuple[int, bytes]] = []
        self.size, self.changed = self._fetch(spans)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self.size - self._at)
        if size <= 0:
            return 0
        data = self._read_block(size) or self._read_ahead(size)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def data_after(self, offset: int) -> int | None:
        """The next data by the machine's `SEEK_DATA`, so that no hole is sent; None if only zeros
        follow.
        """
        try:
            remote = remote_to(self._reach)
            answer = remote.ask(
                _THERE, "data_after", self._reach.timeout, path=self._path, offset=offset
            )
            with readable(remote.transport.where):
                at = None if answer["at"] is None else int(answer["at"])
        except CouldNotLook as error:
            raise ConnectionError(str(error)) from None
        return at if at is None or at >= offset else offset

    def _read_block(self, size: int) -> bytes:
        for start, block in self._blocks:
            if start <= self._at < start + len(block):
                return block[self._at - start : self._at - start + size]
        return b""

    def _read_ahead(self, size: int) -> bytes:
        self._blocks = self._blocks[:1]  # drop what was read
        self._fetch([[self._at, AHEAD]])
        return self._read_block(size)

    def _fetch(self, spans: Sequence[Sequence[int]]) -> tuple[int, float]:
        try:
            remote = remote_to(self._reach)
            answer = remote.ask(_THERE, "pieces", self._reach.timeout, path=self._path, spans=spans)
            with readable(remote.transport.where):
                for (start, count), piece in zip(spans, answer["pieces"], strict=True):
                    self._blocks.append(
                        (start, _decompress_data(_remote_agent.decode_bytes(piece), count))
                    )
                return int(answer["size"]), float(answer["changed"])
        except CouldNotLook as error:
            raise ConnectionError(str(error)) from None


def _decompress_data(data: bytes, most: int) -> bytes:
    """Decompress at most `most` bytes: a few bytes can unpack to any number."""
    piece = zlib.decompressobj()
    try:
        content = piece.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(content) > most or not piece.eof:
        raise ValueError("it is not what was asked for")
    return content
