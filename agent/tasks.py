"""What the workers do for conversations."""

from celery import shared_task

from agent.runs.reaper import close_abandoned
from agent.skills.files import throw_away


@shared_task(name="agent.reap_runs")
def reap_runs() -> None:
    """Close what a dead process left open."""
    close_abandoned()


@shared_task(name="agent.throw_files_away")
def throw_files_away() -> None:
    """Delete the files of scripts that are too old."""
    throw_away()
