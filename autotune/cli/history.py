"""`autotune history`: list the stored runs."""

import json
from datetime import datetime
from pathlib import Path

import click

SCHEMA_VERSION = 1


@click.command("history")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(state: Path | None, as_json: bool) -> None:
    """List the stored runs, oldest first, each with its verdict."""
    from autotune.cli.state import open_store
    from autotune.store.study import StoredRun

    def row(run: StoredRun) -> dict[str, object]:
        best = run.verdict.best if run.verdict else None
        return {
            "run": run.run,
            "profile": run.profile_name,
            "started": datetime.fromtimestamp(run.started_wall).astimezone().isoformat(timespec="seconds"),
            "verdict": run.verdict.code.value if run.verdict else None,
            "settings": best.settings.as_dict() if best else None,
            "tokens_per_second": best.tokens_per_second if best else None,
            "half_width": best.half_width if best else None,
            "gain": run.verdict.gain if run.verdict else None,
            "launches": run.launches,
            "emulated": run.description.emulated or run.rehearsed,
        }

    with open_store(state) as store:
        rows = [row(run) for run in store.runs()]
    if as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "runs": rows}, indent=2))
        return
    lines = [_text(line) for line in rows] or ["no runs yet; autotune tune PROFILE makes the first"]
    click.echo("\n".join(lines))


def _text(row: dict[str, object]) -> str:
    speed = row["tokens_per_second"]
    settings = row["settings"]
    batch = settings["max_batch_size"] if isinstance(settings, dict) else "-"
    gain = row["gain"]
    cells = (
        str(row["run"]).ljust(44),
        str(row["verdict"] or "unfinished").ljust(15),
        f"max batch {batch}".ljust(15),
        (f"{speed:.1f} token/s" if isinstance(speed, float) else "-").ljust(16),
        (f"{100 * gain:+.1f} %" if isinstance(gain, float) else "").ljust(8),
        f"{row['launches']} launches",
        "emulated" if row["emulated"] else "",
    )
    return "  ".join(cells).rstrip()
