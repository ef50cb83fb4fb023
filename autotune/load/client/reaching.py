"""Reaching: a service that takes no connection, told in words that lead on."""

import asyncio
import errno
import ssl

from autotune.errors import NotMeasurable
from autotune.load.client.plan import LoadPlan

_NO_PORT = {errno.EADDRNOTAVAIL}
_NO_DESCRIPTOR = {errno.EMFILE, errno.ENFILE}


class Unreached(NotMeasurable):
    """The service could not be reached before the clock started."""


def cause_of(error: OSError) -> str:
    """The name under which a connection that was not made is counted."""
    if isinstance(error, ssl.SSLError):
        return "tls"
    if isinstance(error, ConnectionRefusedError):
        return "connect_refused"
    if error.errno in _NO_PORT:
        return "no_local_port"
    if error.errno in _NO_DESCRIPTOR:
        return "no_descriptor"
    return "connect_failed"


def unreached(error: BaseException, plan: LoadPlan) -> Unreached:
    """The error of a test that could not even begin."""
    where = plan.target.address.host_header
    hint = "check that the service runs and that the address is right"
    match error:
        case ssl.SSLCertVerificationError():
            message = f"the certificate of {where} is not trusted: {error.verify_message}"
            hint = "--ca names the authority that signed it, --url the name it was given for"
        case ssl.SSLError():
            message = f"no TLS with {where}: {error.reason or error}"
            hint = "http:// for a service without TLS; --cert and --key when it asks for a client certificate"
        case ConnectionRefusedError():
            message = f"nothing listens at {where}"
        case ConnectionError() if plan.target.tls is not None:
            message = f"no TLS with {where}: the service ended the handshake"
            hint = "http:// for a service without TLS"
        case asyncio.TimeoutError():
            message = f"{where} does not take {plan.concurrency} connections in {plan.patience.connect:.0f} s"
            hint = "fewer clients, or a larger maxLinkNum of the service"
        case _:
            message = f"{where} can't be reached: {error}"
    return Unreached(message, hint=hint)
