"""What the workers do for conversations."""

from celery import shared_task

from agent.runs.reaper import close_abandoned


@shared_task(name="agent.reap_runs")
def reap_runs() -> None:
    """Close what a dead process left open."""
    close_abandoned()
