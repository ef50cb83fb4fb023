"""Linger: a socket that resets its connection when it is closed."""

import struct

NO_LINGER = struct.pack("ii", 1, 0)
"""Value of SO_LINGER with which a close resets the connection, once a reply is read.

The service closes first after many replies, so its port would stay in TIME_WAIT for a minute, and its next
start, which binds without SO_REUSEADDR, would have to wait. A reset spares it that.
"""
