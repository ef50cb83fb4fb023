"""Unit setting: a systemd service that works against the trials, such as irqbalance or tuned, on request.

tuned sets governor and huge pages itself, irqbalance moves interrupts onto the CPUs of the service. They are
stopped only where a profile names them, and started again.
"""

from dataclasses import replace

from autotune.host.setting import SettingOutcome, SettingResult
from autotune.host.short_command import Answer, Ask
from autotune.model.change import UnitStopped

NAME = "stopped_services"
_ASK_SECONDS = 5.0
_ACT_SECONDS = 60.0
_ACTIVE = "active"


def plan_unit(unit: str, run: Ask) -> SettingResult:
    """The item; APPLIED means here: is to be stopped."""
    answer = run(["systemctl", "is-active", unit], _ASK_SECONDS)
    state = answer.output.strip()
    result = SettingResult(
        name=NAME,
        before=f"{unit} {state}",
        wanted=f"{unit} inactive",
        after=f"{unit} {state}",
        outcome=SettingOutcome.UNCHANGED,
        advice=f"systemctl stop {unit}",
    )
    if state == _ACTIVE:
        return replace(result, outcome=SettingOutcome.APPLIED)
    if state in {"inactive", "failed"}:
        return result
    reason = _said(answer) or f"systemd says {state or 'nothing'}"
    return replace(result, before=None, after=None, outcome=SettingOutcome.UNAVAILABLE, reason=reason)


def stop_unit(unit: str, item: SettingResult, run: Ask) -> SettingResult:
    """Stop it and read back whether it is."""
    answer = run(["systemctl", "stop", unit], _ACT_SECONDS)
    state = _state(unit, run)
    result = replace(item, after=f"{unit} {state}")
    if state != _ACTIVE:
        return result
    return replace(result, outcome=SettingOutcome.DENIED, reason=_said(answer) or "it is active all the same")


def start_unit(change: UnitStopped, *, boot_id: str, run: Ask) -> SettingResult:
    """Start it again; UNCHANGED when it is active already, DROPPED after a reboot."""
    state = _state(change.unit, run)
    result = SettingResult(
        name=NAME,
        before=f"{change.unit} {state}",
        wanted=f"{change.unit} {_ACTIVE}",
        after=f"{change.unit} {state}",
        outcome=SettingOutcome.UNCHANGED,
        advice=f"systemctl start {change.unit}",
    )
    if change.boot_id != boot_id:
        return replace(result, outcome=SettingOutcome.DROPPED, reason="the host was rebooted since")
    if state == _ACTIVE:
        return result
    answer = run(["systemctl", "start", change.unit], _ACT_SECONDS)
    state = _state(change.unit, run)
    result = replace(result, after=f"{change.unit} {state}")
    if state == _ACTIVE:
        return replace(result, outcome=SettingOutcome.RESTORED)
    return replace(result, outcome=SettingOutcome.DENIED, reason=_said(answer) or f"systemd says {state}")


def _state(unit: str, run: Ask) -> str:
    return run(["systemctl", "is-active", unit], _ASK_SECONDS).output.strip() or "unknown"


def _said(answer: Answer) -> str:
    if answer.no_answer is not None:
        return f"systemctl {answer.no_answer.value}"
    return next(iter(answer.errors.strip().splitlines()), "")
