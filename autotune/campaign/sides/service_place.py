"""Which service a profile means, told before it is looked at: the file, script or command of its lock."""

from autotune.campaign.sides.command_words import command_words
from autotune.campaign.sides.service_environment import environment_of
from autotune.engines.mindie.installation import config_path
from autotune.profile.schema import Profile


def service_place(profile: Profile) -> str:
    """The path or command that names the service; the same that its description gives.

    Raises UsageError when the environment file or a secret can't be read, or the command can't be completed.
    """
    engine = profile.engine
    if engine.kind == "vllm":
        words = command_words(engine.command or ("",), engine.home, profile.model.path)
        return str(engine.script) if engine.script else words[0]
    return str(config_path(engine.home, environment_of(profile)))
