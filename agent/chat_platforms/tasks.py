"""Tasks for chat messages that the receiving process does not answer."""

from uuid import UUID

from asgiref.sync import async_to_sync
from celery import shared_task

from agent.chat_platforms.messages import find_abandoned_messages

LOOKED_EVERY_S = 10  # beat's interval for leftover messages


@shared_task(name="agent.answer_chat_message")
def answer_chat_message(message_id: str) -> None:
    from agent.chat_platforms.answering import answer_message  # imports the whole agent, which most workers never need

    async_to_sync(answer_message)(UUID(message_id))


def take_up() -> None:
    """Queue the messages that no process is answering."""
    for message_id in find_abandoned_messages():
        answer_chat_message.apply_async(args=(str(message_id),), queue="interactive", expires=LOOKED_EVERY_S)
