"""A wire between a client and a server on loopback that can be cut: then nothing passes, and
nothing is said.
"""

import contextlib
import socket
import threading
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Relay:
    def __init__(self) -> None:
        self.cut = threading.Event()
        self.target = free_port()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._take, daemon=True).start()

    def end(self) -> None:
        self._server.close()

    def _take(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        self._wait()
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        threading.Thread(target=self._pass, args=(server, client), daemon=True).start()
        self._pass(client, server)

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._wait()
                target.sendall(data)
        self._wait()
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _wait(self) -> None:
        while self.cut.is_set():
            time.sleep(0.05)
