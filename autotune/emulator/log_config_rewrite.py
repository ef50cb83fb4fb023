"""The daemon's own rewriting of config.json: it mends a missing LogConfig and dates a dynamic log level.

Source: log_level_dynamic_handler of MindIE-LLM. It always looks at the home's own file, whatever file the
service was started with, every 5 s; it writes in place, not atomically.
"""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

INTERVAL_SECONDS: Final = 5.0
_STAMP: Final = "%Y-%m-%d %H:%M:%S"
_LEVEL: Final = re.compile(r'("dynamicLogLevel"\s*:\s*)"[^"]*"')
_SINCE: Final = re.compile(r'("dynamicLogLevelValidTime"\s*:\s*)"[^"]*"')
_DEFAULT: Final[dict[str, Any]] = {
    "dynamicLogLevel": "",
    "dynamicLogLevelValidHours": 2,
    "dynamicLogLevelValidTime": "",
}


def rewritten(text: str, now: datetime) -> str | None:
    """The text as the daemon would leave it; None when it leaves it alone."""
    document = _object(text)
    if document is None:
        return None
    section = document.get("LogConfig")
    if not isinstance(section, dict):
        document["LogConfig"] = dict(_DEFAULT)
        return json.dumps(document, indent=4, ensure_ascii=False)
    level, since = section.get("dynamicLogLevel", ""), section.get("dynamicLogLevelValidTime", "")
    if not level:
        return None
    if not since:
        return _SINCE.sub(rf'\g<1>"{now.strftime(_STAMP)}"', text, count=1)
    if _expired(str(since), section.get("dynamicLogLevelValidHours", 2), now):
        return _SINCE.sub(r'\g<1>""', _LEVEL.sub(r'\g<1>""', text, count=1), count=1)
    return None


def _object(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _expired(since: str, hours: object, now: datetime) -> bool:
    try:
        begin = datetime.strptime(since, _STAMP)  # noqa: DTZ007 - local time, as the daemon writes it
    except ValueError:
        return False
    return now.replace(tzinfo=None) > begin + timedelta(hours=hours if isinstance(hours, int) else 2)


def rewrite(path: Path, now: datetime) -> bool:
    """Rewrite the file where the daemon would; True when it was written."""
    try:
        text = path.read_text(encoding="utf-8")
        changed = rewritten(text, now)
        if changed is None or changed == text:
            return False
        path.write_text(changed, encoding="utf-8")
    except (OSError, UnicodeError):
        return False
    return True
