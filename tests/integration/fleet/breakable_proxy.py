"""A TCP relay that can lose all of its connections for a while, as a broken network does."""

import contextlib
import select
import socket
import threading


class BreakableProxy:
    """Relays to one port; while broken it drops what it has and refuses what comes."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._broken = threading.Event()
        self._over = threading.Event()
        self.refused = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def break_(self) -> None:
        self._broken.set()

    def mend(self) -> None:
        self._broken.clear()

    def close(self) -> None:
        self._over.set()
        self._thread.join(timeout=5)
        self._drop()
        self._listener.close()

    def _serve(self) -> None:
        while not self._over.is_set():
            if self._broken.is_set():
                self._drop()
            sockets = [self._listener, *(each for pair in self._pairs for each in pair)]
            ready, _, _ = select.select(sockets, [], [], 0.05)
            for each in ready:
                if each is self._listener:
                    self._accept()
                else:
                    self._relay(each)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        if self._broken.is_set():
            self.refused += 1
            client.close()
            return
        self._pairs.append((client, socket.create_connection(("127.0.0.1", self._target))))

    def _relay(self, source: socket.socket) -> None:
        pair = next((pair for pair in self._pairs if source in pair), None)
        if pair is None:
            return
        other = pair[1] if source is pair[0] else pair[0]
        try:
            data = source.recv(65536)
            if data:
                other.sendall(data)
                return
        except OSError:
            pass
        self._close(pair)

    def _close(self, pair: tuple[socket.socket, socket.socket]) -> None:
        for each in pair:
            with contextlib.suppress(OSError):
                each.close()
        self._pairs.remove(pair)

    def _drop(self) -> None:
        for pair in list(self._pairs):
            self._close(pair)
