"""Engine: vLLM's server behind the Engine protocol."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from typing import final

from autotune.engines.vllm.compiling import NO_GRAPHS, compile_graphs
from autotune.engines.vllm.defaults import default_max_num_seqs
from autotune.engines.vllm.description import describe, refuse_unusable
from autotune.engines.vllm.directory import is_compiled, make_directory
from autotune.engines.vllm.facts import ServerFacts, facts_of
from autotune.engines.vllm.launching import launched
from autotune.engines.vllm.options import VllmOptions
from autotune.engines.vllm.running import RunningVllm
from autotune.engines.vllm.serving import Serving, read_command, read_file
from autotune.engines.vllm.trial import edited, plan_trial
from autotune.engines.vllm.winner import read_text
from autotune.events import Warned
from autotune.model.service import Description
from autotune.model.settings import Settings


@final
class VllmEngine:
    """Starts a vLLM server with given settings; see `Engine`."""

    def __init__(self, options: VllmOptions) -> None:
        self._options = options
        self._default: int | None = None
        self._running = False
        self._finds_graphs = True

    @property
    def options(self) -> VllmOptions:
        """What it was told."""
        return self._options

    def describe(self) -> Description:
        """Describe what the command or script serves; touches nothing.

        Where the command does not name --max-num-seqs, vLLM is asked for its default, once.
        Raises Refused with what mends it.
        """
        serving = self._read()
        facts = facts_of(serving, self._options.environment)
        refuse_unusable(serving, facts, self._options, live=self._options.live_service or self._running)
        return describe(serving, facts, self._found(serving), self._options)

    def preview(self, settings: Settings) -> str:
        """Show what would change in the command or the script, as a unified diff."""
        serving = self._read()
        facts = facts_of(serving, self._options.environment)
        after = edited(serving, settings, self._found(serving), facts)
        name = str(self._options.script or "command")
        return "\n".join(unified_diff(serving.lines(), after.lines(), name, name, lineterm=""))

    @contextmanager
    def launch(self, settings: Settings) -> Iterator[RunningVllm]:
        """Start the server with these settings and stop it at the end; the script itself never changes.

        A server that keeps compiled graphs is started twice where there are none yet for these settings.
        Raises LaunchFailed when it does not get ready, NotRestored when something of it can't be ended.
        """
        self._compile(settings)
        with self._started(settings) as service:
            yield service

    @contextmanager
    def _started(self, settings: Settings) -> Iterator[RunningVllm]:
        """One start."""
        options, serving = self._options, self._read()
        trial = plan_trial(
            serving,
            settings,
            self._found(serving),
            options.environment,
            keep_address=options.keep_address,
        )
        directory = make_directory(options.work_dir, settings)
        block_size = facts_of(serving, options.environment).block_size
        with launched(options, trial, directory, block_size=block_size) as service:
            self._running = True
            try:
                yield service
            finally:
                self._running = False

    def _compile(self, settings: Settings) -> None:
        """A start only to compile, where graphs are kept and none are there; once, where none appear."""
        options = self._options
        keeps = self.facts.keeps_graphs and self._finds_graphs
        if not keeps or is_compiled(options.work_dir, settings):
            return
        with self._started(settings) as service:
            compile_graphs(options, service.facts, settings.max_batch_size)
        self._finds_graphs = is_compiled(options.work_dir, settings)
        if not self._finds_graphs:
            options.listener(Warned(message=NO_GRAPHS, hint="look at the first latencies of each launch"))

    @property
    def facts(self) -> ServerFacts:
        """What the command says of the server as it is served, not of trials."""
        return facts_of(self._read(), self._options.environment)

    @property
    def fixed_blocks(self) -> int | None:
        """KV blocks where the command fixes them; else only a launch tells."""
        return self.facts.blocks

    @property
    def ranks(self) -> int:
        """Devices that the command takes: tensor times pipeline parallel ranks."""
        return self.facts.ranks

    def _read(self) -> Serving:
        if self._options.script is None:
            return read_command(self._options.command)
        return read_file(read_text(self._options.script), self._options.environment)

    def _found(self, serving: Serving) -> Settings:
        facts = facts_of(serving, self._options.environment)
        if facts.max_num_seqs is None and self._default is None:
            self._default = default_max_num_seqs(serving, self._options.environment, ranks=facts.ranks)
        return facts.settings(self._default or 0)
