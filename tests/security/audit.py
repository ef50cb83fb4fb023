"""Audit: known weaknesses of the locked packages, and bandit over the code; `make audit`."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-fuzz.lock")


def main() -> int:
    """Run both; 1 when either has something to say."""
    return max([_code(), *(_packages(ROOT / name) for name in LOCKS)])


def _code() -> int:
    done = _run([sys.executable, "-m", "bandit", "-q", "-r", "autotune", "-c", "pyproject.toml"])
    print(done.stdout.strip() or done.stderr.strip() if done.returncode else "bandit: nothing to say")
    return 1 if done.returncode else 0


def _packages(lock: Path) -> int:
    """A service of advisories that cannot be reached, or knows no package, is said and is no failure."""
    done = _run([sys.executable, "-m", "pip_audit", "--disable-pip", "--format", "json", "-r", str(lock)])
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except ValueError:
        print(f"{lock.name}: SKIPPED, the service of advisories cannot be reached: {_last_line(done.stderr)}")
        return 0
    known = [package for package in packages if "skip_reason" not in package]
    if not known:
        print(
            f"{lock.name}: SKIPPED, the index here has no advisories: 0 of {len(packages)} packages audited"
        )
        return 0
    weak = [package for package in known if package["vulns"]]
    for package in weak:
        names = ", ".join(weakness["id"] for weakness in package["vulns"])
        print(f"{lock.name}: {package['name']} {package['version']}: {names}")
    print(f"{lock.name}: {len(known)} of {len(packages)} packages audited, {len(weak)} with known weaknesses")
    return 1 if weak else 0


def _run(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def _last_line(text: str) -> str:
    """What kind of error it was; the rest names hosts."""
    return (text.strip().splitlines() or ["no reason given"])[-1].partition(":")[0]


if __name__ == "__main__":
    sys.exit(main())
