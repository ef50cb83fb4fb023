"""For all tests: property tests have no deadline, since these machines are shared, and repeat in CI."""

import os

from hypothesis import settings

settings.register_profile("shared", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "shared")
