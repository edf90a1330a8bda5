from celery import shared_task

from agent.business.housekeeping import sweep_walls


@shared_task(name="business.sweep_walls")
def sweep() -> None:
    """Take down walls that nobody stands behind; a source that does not answer waits for the next time."""
    sweep_walls()
