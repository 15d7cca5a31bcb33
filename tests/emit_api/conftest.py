"""Where the memory systems are that tests wrap, beside weaklink's own environment."""

import os
import sys

# mem0ai allows no protobuf that weaklink does, so it cannot be installed beside weaklink: AGENT_PACKAGES names the
# site-packages folder of an environment that has it. What both have is taken from weaklink's own.
sys.path.extend(folder for folder in os.environ.get("AGENT_PACKAGES", "").split(os.pathsep) if folder)
