from celery import shared_task

from audit import checkpoints


@shared_task(name="audit.sign_checkpoint", ignore_result=True)
def sign_checkpoint() -> None:
    """Sent by beat: sign what was recorded since the last checkpoint."""
    checkpoints.sign_checkpoint()
