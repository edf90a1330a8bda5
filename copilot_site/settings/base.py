"""What the other files of this package read: the environment, once, and where the state lies."""

from copilot_site.config import BASE_DIR, load_config
from copilot_site.home import Home

__all__ = ["BASE_DIR", "HOME", "config"]

config = load_config()
HOME = Home(config.home)
