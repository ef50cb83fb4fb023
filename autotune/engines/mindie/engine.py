"""Engine: MindIE's daemon behind the Engine protocol."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from difflib import unified_diff
from typing import final

from autotune.engines.mindie.configured import configured
from autotune.engines.mindie.daemon_environment import hides_blocks
from autotune.engines.mindie.description import describe, refuse_unusable
from autotune.engines.mindie.installation import Installation, find
from autotune.engines.mindie.launching import launched, make_directory
from autotune.engines.mindie.options import ConfigMode, Logs, MindieOptions
from autotune.engines.mindie.running import RunningMindie
from autotune.engines.mindie.trial import edited, plan_trial
from autotune.errors import LaunchCause, LaunchFailed
from autotune.events import Warned
from autotune.model.service import Blocks, Description
from autotune.model.settings import Settings

_PROBING = (
    "this version tells its KV blocks in its log at INFO only, which production does not write: "
    "one start more at INFO reads them, and is not measured"
)
_OTHER_PORTS = "a free port that was chosen for the trial is taken; started again with others"


@final
class MindieEngine:
    """Starts MindIE's daemon with given settings; see `Engine`."""

    def __init__(self, options: MindieOptions) -> None:
        self._options = options
        self._running = False
        self._probed: Blocks | None = None
        self._probe_is_due = options.probing

    @property
    def options(self) -> MindieOptions:
        """What it was told."""
        return self._options

    def describe(self) -> Description:
        """Describe the install; touches nothing. Raises Refused with the command that mends it."""
        installation = self._find()
        refuse_unusable(installation, self._options, live=self._options.live_service or self._running)
        return describe(installation, self._options)

    def preview(self, settings: Settings) -> str:
        """Show what would change in the service's own configuration, as a unified diff."""
        installation = self._find()
        path, before = str(installation.config.path), installation.config.text
        after = edited(
            installation.config.config, settings, version=installation.version, chip=self._options.chip
        )
        return "\n".join(unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm=""))

    @contextmanager
    def launch(self, settings: Settings) -> Iterator[RunningMindie]:
        """Start the daemon with these settings; stop it and put its configuration back at the end.

        Where only its log at INFO tells the KV blocks, and production logs less, the first launch is preceded
        by a probing start, which is not measured. Raises LaunchFailed when it does not get ready, NotRestored
        when putting back fails.
        """
        if self._probe_is_due and hides_blocks(self._find().version, self._options.environment):
            self._probe_is_due = False
            self._options.listener(Warned(message=_PROBING))
            self._probed = self.probe()
        with ExitStack() as stack:
            service = self._entered(settings, stack)
            if service.blocks is None and self._probed is not None:
                service.assume(self._probed)
            yield service

    def _entered(self, settings: Settings, stack: ExitStack) -> RunningMindie:
        """Start it; once more where somebody took one of its own ports while it loaded its model."""
        try:
            return stack.enter_context(self._launched(settings))
        except LaunchFailed as failure:
            if failure.cause is not LaunchCause.PORT or self._options.config_mode is ConfigMode.IN_PLACE:
                raise
            why = failure.lines[0] if failure.lines else failure.message
            self._options.listener(Warned(message=f"{_OTHER_PORTS}: {why}"))
        return stack.enter_context(self._launched(settings))

    @contextmanager
    def _launched(self, settings: Settings) -> Iterator[RunningMindie]:
        options = self._options
        if settings.max_link_num is None and options.max_link_num is not None:
            settings = replace(settings, max_link_num=options.max_link_num)
        directory = make_directory(options.work_dir, since=options.clock.wall())
        installation = self._find()
        private = options.config_mode is not ConfigMode.IN_PLACE
        private_path = options.work_dir / "config.json" if private else None
        trial = plan_trial(
            installation.config.config,
            settings,
            version=installation.version,
            chip=options.chip,
            private_path=private_path,
            model_name=options.model_name,
            environment=options.environment,
        )
        with (
            configured(options, installation, trial),
            launched(options, installation, trial, directory) as service,
        ):
            self._running = True
            try:
                yield service
            finally:
                self._running = False

    def probe(self) -> Blocks | None:
        """Start the service once as it is, logging at INFO, only to read its KV blocks; None: nothing tells.

        Raises LaunchFailed when it does not get ready.
        """
        probing = MindieEngine(replace(self._options, logs=Logs.PROBING, probing=False))
        with probing.launch(self.describe().incumbent) as service:
            return service.blocks

    def _find(self) -> Installation:
        return find(self._options.home, self._options.environment)
