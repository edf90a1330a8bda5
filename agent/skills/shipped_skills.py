"""The skills shipped with the product: each a folder in `shipped/`, to be added, reviewed and bound like any other."""

from pathlib import Path

from agent.skills.packages import Package, package_in
from copilot_site.lib.errors import NotFound

FOLDER = Path(__file__).resolve().parent / "shipped"


def shipped_names() -> list[str]:
    return sorted(place.name for place in FOLDER.iterdir() if place.is_dir())


def shipped_package(name: str) -> Package:
    """Read a shipped skill. Raises NotFound for another name."""
    if name not in shipped_names():
        raise NotFound(f"There is no skill of ours called {name[:80]!r}.")
    return package_in(FOLDER / name)
