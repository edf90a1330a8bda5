"""The removable parts of the agent.

Nothing else imports them (a contract in `pyproject.toml`); each registers its own features.

A part may have `registration` (its `register()` is called at the start), `urls`, `admin`, and `tasks` (its `take_up()`
is called every ten seconds). To remove a part, delete its folder.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

PARTS = ("chat_platforms", "mcp_client", "mcp_server", "openai_api", "skills", "web")


def import_part_modules(name: str) -> list[ModuleType]:
    """Import the module of this name from each part that has one."""
    there = (f"agent.{part}" for part in PARTS if find_spec(f"agent.{part}"))
    return [import_module(f"{package}.{name}") for package in there if find_spec(f"{package}.{name}")]
