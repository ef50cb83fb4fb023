"""Units: the systemd service and timer of the nightly job, and its crontab line, as texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.recover_unit import quoted
from autotune.profile.schema import Profile

STOP_SECONDS = 1200
"""A service that is stopped in the middle puts back, and starts production, which loads its model."""
_DAY_MINUTES = 24 * 60
_DEFAULT_BEGIN = 2 * 60
_SERVICE = """\
# {title}
[Unit]
Description=Prove that the settings of {name} still hold
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart={command}
# 3: a better setting was found and not applied; 75: window closed, lock held or live traffic
SuccessExitStatus=3 75
# oneshot knows no RuntimeMaxSec; the tool ends earlier by itself, when the window closes
TimeoutStartSec={start_seconds}
# SIGTERM goes to the tool alone, which puts everything back
KillMode=mixed
TimeoutStopSec={stop_seconds}
{hardening}"""
_TIMER = """\
# {title}
[Unit]
Description=When the settings of {name} are proven again

[Timer]
OnCalendar=*-*-* {hour:02}:{minute:02}:00
# a night that was missed runs at the next boot; the tool itself looks whether the window is open
Persistent=true
RandomizedDelaySec={delay_minutes}min
AccuracySec=1min
Unit={unit}.service

[Install]
WantedBy=timers.target
"""
_HARDENING = """\
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
# devices stay visible: /dev/davinci* are the NPUs
PrivateDevices=no
# /dev/shm and /tmp are shared with the service
PrivateTmp=no
ProtectSystem=strict
ReadWritePaths={writable}
StateDirectory=ascend-autotune
StateDirectoryMode=0700
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
{tunables}"""
_TUNABLES = """\
# governor and huge pages are written below /sys, so it stays writable
ProtectKernelTunables=no
"""
_NO_TUNABLES = """\
# no host setting is changed, so /sys and /proc/sys are read-only
ProtectKernelTunables=yes
"""
_IN_CONTAINER = """\
# the job runs inside the container; it ends by itself when the window closes
UMask=0077
NoNewPrivileges=yes
PrivateTmp=yes
ProtectHome=read-only
ProtectSystem=strict
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
LockPersonality=yes
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Units:
    """What `autotune schedule` prints and installs."""

    name: str
    """Of both units, without its ending."""
    service: str
    timer: str
    crontab: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Where things are on this host."""

    profile: Path
    """Absolute; inside the container where there is one."""
    command: tuple[str, ...]
    """How the tool is started."""
    writable: tuple[Path, ...]
    """What it has to write, beside its own state directory."""


def units(profile: Profile, places: Places) -> Units:
    """Units for a job on the host; with host tuning where the profile has it."""
    tuned = profile.host.governor is not None or profile.host.transparent_hugepages is not None
    writable = " ".join(quoted(f"-{path}") for path in dict.fromkeys(places.writable))
    hardening = _HARDENING.format(writable=writable, tunables=_TUNABLES if tuned else _NO_TUNABLES)
    argv = (*places.command, "nightly", str(places.profile))
    return _made(profile, argv, hardening)


def container_units(profile: Profile, places: Places, *, docker: str, container: str) -> Units:
    """Units for the host whose timer runs the job inside a container that is up."""
    argv = (docker, "exec", container, *places.command, "nightly", str(places.profile))
    return _made(profile, argv, _IN_CONTAINER)


def _made(profile: Profile, argv: Sequence[str], hardening: str) -> Units:
    begin, minutes = _window(profile)
    unit = f"autotune-nightly-{re.sub(r'[^A-Za-z0-9_.-]', '-', profile.name)}"
    title = (
        f"Made by `autotune schedule`; the window of the profile is {profile.nightly.window or 'not set'}."
    )
    service = _SERVICE.format(
        title=title,
        name=profile.name.replace("%", "%%"),
        command=" ".join(map(quoted, argv)),
        start_seconds=minutes * 60 + STOP_SECONDS,
        stop_seconds=STOP_SECONDS,
        hardening=hardening,
    )
    timer = _TIMER.format(
        title=title,
        name=profile.name.replace("%", "%%"),
        hour=begin // 60,
        minute=begin % 60,
        delay_minutes=max(1, min(15, minutes // 12)),
        unit=unit,
    )
    return Units(name=unit, service=service, timer=timer, crontab=_crontab(begin, argv))


def _window(profile: Profile) -> tuple[int, int]:
    """Begin in minutes after midnight, and length in minutes."""
    window = profile.nightly.window_minutes
    if window is None:
        return _DEFAULT_BEGIN, _DAY_MINUTES
    begin, end = window
    return begin, (end - begin) % _DAY_MINUTES


def _crontab(begin: int, argv: Sequence[str]) -> str:
    """For the crontab of the user that runs it; `%` is a newline there unless it is escaped."""
    from shlex import join

    return f"{begin % 60} {begin // 60} * * * {join(argv)}".replace("%", r"\%")
