"""The site with a queue of one."""

from copilot_site.asgi import application

__all__ = ["application"]

from agent.runs import start

start.MAX_WAITING_RUNS = 1
