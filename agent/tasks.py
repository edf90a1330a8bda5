"""Worker tasks for conversations."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from agent.conversations import attachments, made_files
from agent.models import SetRun
from agent.parts import import_part_modules
from agent.question_sets.selectors import claim_stalled_runs
from agent.runs.reaper import close_abandoned_runs
from agent.verified_answers.review import delete_unreachable_answers, flag_changed_answers
from agent.verified_answers.wordings import embed_missing_wordings

PARTS = import_part_modules("tasks")  # imported here, so that workers know their tasks


@shared_task(name="agent.reap_runs")
def reap_runs() -> None:
    """Close runs of dead processes, and take up the evaluations and chat messages they left."""
    close_abandoned_runs()
    for part in PARTS:
        part.take_up()
    for run_id in claim_stalled_runs():
        evaluate_next.apply_async(args=(str(run_id),), queue="bulk")


@shared_task(name="agent.evaluate_next")
def evaluate_next(run_id: str) -> None:
    """Ask one question of an evaluation run, and queue the next as a task of its own, so that imports are not delayed."""
    from agent.question_sets.runner import ask_next_question  # imports the whole agent, which most workers never need

    if ask_next_question(UUID(run_id)):
        SetRun.objects.filter(pk=run_id).update(queued_at=timezone.now())
        evaluate_next.apply_async(args=(run_id,), queue="bulk")


@shared_task(name="agent.review_verified_answers")
def review_verified_answers() -> None:
    """Flag verified answers whose sources have changed, delete those that nobody can read, and embed wordings without a vector."""
    flag_changed_answers()
    delete_unreachable_answers()
    embed_missing_wordings()


@shared_task(name="agent.throw_files_away")
def throw_files_away() -> None:
    """Delete expired files of scripts and conversations, and files of deleted conversations."""
    made_files.delete_expired_made_files()
    attachments.delete_old_attachments()
