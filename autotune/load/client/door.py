"""Door: opens connections to one address."""

import asyncio
import contextlib
import ssl

from autotune.load.client.address import Address, resolved
from autotune.load.client.api import Api
from autotune.load.client.connection import Connection, Holder
from autotune.load.client.recorder import Recorder


class Door:
    """Knows the address as numbers, the TLS context and what a connection needs."""

    __slots__ = ("_addresses", "_api", "_port", "_recorder", "_server_name", "_tls")

    def __init__(
        self, *, address: Address, api: Api, recorder: Recorder, tls: ssl.SSLContext | None = None
    ) -> None:
        self._addresses = resolved(address)
        self._port = address.port
        self._api = api
        self._recorder = recorder
        self._tls = tls
        self._server_name = address.host if tls is not None else None

    async def connect(self, holder: Holder) -> Connection:
        """A new connection. Raises OSError (ssl.SSLError is one) when there is none."""
        loop = asyncio.get_running_loop()
        if len(self._addresses) > 1:
            await self._keep_the_one_that_listens(loop, holder)
        return await self._one(loop, holder, self._addresses[0])

    async def _keep_the_one_that_listens(self, loop: asyncio.AbstractEventLoop, holder: Holder) -> None:
        """Names like localhost stand for two addresses, and often only one of them is served."""
        for address in self._addresses[:-1]:
            with contextlib.suppress(ConnectionRefusedError):
                (await self._one(loop, holder, address)).abort()
                self._addresses = (address,)
                return
        self._addresses = self._addresses[-1:]

    async def _one(self, loop: asyncio.AbstractEventLoop, holder: Holder, address: str) -> Connection:
        _, connection = await loop.create_connection(
            lambda: Connection(holder, self._recorder, self._api),
            address,
            self._port,
            ssl=self._tls,
            server_hostname=self._server_name,
        )
        return connection
