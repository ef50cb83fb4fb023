"""Which certificates the profile gives to an engine's control plane."""

from autotune.engines.tls import Tls
from autotune.profile.schema import TlsSection


def tls_of(section: TlsSection | None) -> Tls | None:
    """The files of workload.tls; None without an authority, since the system's own are not trusted."""
    if section is None or section.ca is None:
        return None
    return Tls(ca=section.ca, cert=section.cert, key=section.key, password_file=section.password_file)
