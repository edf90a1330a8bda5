"""The site with a queue of two: filling that of two hundred would need as many people."""

from copilot_site.asgi import application

__all__ = ["application"]

from agent.runs import start

start.MAX_WAITING_RUNS = 2
