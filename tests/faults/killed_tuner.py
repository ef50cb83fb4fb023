"""A tuner without search and load: production stopped, host settings written, one launch; it kills itself.

python -m tests.faults.killed_tuner INSTALL WORK STATE HOST MODE SERVICE STEP: STEP is `<number>-before` or
`<number>-after` of the writes of the crash journal, `running` or `never`. SERVICE is the JSON of a profile's
service section, empty for none.
"""

import json
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from autotune.campaign.guards import this_run
from autotune.campaign.production import ProductionService
from autotune.engines.mindie.engine import MindieEngine
from autotune.engines.mindie.options import ConfigMode, MindieOptions
from autotune.events import Event
from autotune.host.host_settings import HostWish, applied
from autotune.model.change import Change
from autotune.model.settings import Settings
from autotune.process.identity import boot_id
from autotune.profile.engine_section import ServiceSection
from autotune.store.journal import FileJournal


class DeadlyJournal(FileJournal):
    """Kills its process right before or right after one of its writes."""

    def __init__(self, path: Path, step: str) -> None:
        super().__init__(path, this_run("r"))
        self._step, self._writes = step, 0

    def _write(self, changes: tuple[Change, ...]) -> None:
        self._writes += 1
        self._die_at("before")
        super()._write(changes)
        self._die_at("after")

    def _die_at(self, moment: str) -> None:
        if self._step == f"{self._writes}-{moment}":
            os.kill(os.getpid(), signal.SIGKILL)


def quiet(_event: Event) -> None:
    return None


def main() -> None:
    install, work, state, host = (Path(word) for word in sys.argv[1:5])
    mode, service, step = sys.argv[5:]
    journal = DeadlyJournal(state / "journal.json", step)
    environment = dict(os.environ)
    options = MindieOptions(
        home=install,
        work_dir=work,
        journal=journal,
        environment=environment,
        config_mode=ConfigMode(mode),
        start_timeout=30.0,
        live_service=bool(service),
    )
    production = ProductionService(
        config_path=install / "conf" / "config.json",
        section=ServiceSection(**json.loads(service)) if service else None,
        environment=environment,
        work_dir=work,
        start_timeout=30.0,
    )
    work.mkdir(exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(production.stopped(journal, quiet))
        stack.enter_context(applied(HostWish(), journal, boot_id=boot_id(), root=host))
        stack.enter_context(
            MindieEngine(options).launch(Settings(max_batch_size=300, max_prefill_batch_size=150))
        )
        if step == "running":
            os.kill(os.getpid(), signal.SIGKILL)
    print(journal._writes)


if __name__ == "__main__":
    main()
