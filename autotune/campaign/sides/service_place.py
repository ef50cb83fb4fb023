"""Which service a profile means, told before it is looked at: the file, script or command of its lock."""

from autotune.campaign.sides.service_environment import environment_of
from autotune.engines.mindie.installation import config_path
from autotune.profile.schema import Profile


def service_place(profile: Profile) -> str:
    """The path or command that names the service; the same that its description gives.

    Raises UsageError when the environment file or a secret can't be read.
    """
    engine = profile.engine
    if engine.kind == "vllm":
        return str(engine.script) if engine.script else (engine.command or ("",))[0]
    return str(config_path(engine.home, environment_of(profile)))
