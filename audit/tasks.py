from celery import shared_task

from audit.chain import checkpoints


@shared_task(name="audit.sign_checkpoint", ignore_result=True)
def sign_checkpoint() -> None:
    """Sign what was recorded since the last checkpoint; sent by beat."""
    checkpoints.sign_checkpoint()
