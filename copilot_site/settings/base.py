"""Shared by the other files of this package: the environment, read once, and the place of the state."""

from copilot_site.config import BASE_DIR, load_config
from copilot_site.home import Home

__all__ = ["BASE_DIR", "HOME", "config"]

config = load_config()
HOME = Home(config.home)
