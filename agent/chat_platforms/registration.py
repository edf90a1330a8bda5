from copilot_site.lib.registry import load_modules


def register() -> None:
    """Register the platforms."""
    load_modules("agent.chat_platforms.platforms")
