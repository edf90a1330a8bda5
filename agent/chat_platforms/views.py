"""The endpoint for platform events: signed, acknowledged at once; the question is answered later."""

import asyncio
import time
from uuid import UUID

import structlog
from asgiref.sync import async_to_sync
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from agent.chat_platforms.answering import answer_message
from agent.chat_platforms.feishu import Challenge, NotFromPlatform, parse_event_call
from agent.chat_platforms.messages import store_message
from agent.chat_platforms.setting_up import build_bot_account
from agent.connections.service_keys import KeyLost
from agent.models import ChatBot
from agent.run_state.threads import has_waiting_thread
from copilot_site.lib.errors import NotFound
from copilot_site.lib.http.body_limit import read_hook_body

log = structlog.get_logger(__name__)


@csrf_exempt  # calls are signed, and not sent by browsers
@require_POST
def receive(request: HttpRequest, bot_id: UUID) -> JsonResponse:
    """Receive a message. Unsigned calls get 401, always in the same words; a repeated message is not answered again."""
    row = ChatBot.objects.filter(pk=bot_id).first()
    if row is None:
        raise NotFound(_("There is no such address."))
    body = read_hook_body(request)
    try:
        call = parse_event_call(build_bot_account(row), request.headers, body, now=time.time())
    except (NotFromPlatform, KeyLost) as error:
        log.warning("chat_platform.refused", bot=str(row.pk), why=str(error))
        return JsonResponse({"msg": "not signed"}, status=401)
    if isinstance(call, Challenge):
        return JsonResponse(call.answer)
    pk = store_message(row, call) if call is not None and row.is_active else None
    if pk is not None:
        async_to_sync(launch_answer)(pk)
    return JsonResponse({})


_answering: set[asyncio.Task[None]] = set()  # the loop holds tasks by weak references only


async def launch_answer(pk: UUID) -> None:
    """Answer a message in the running loop without waiting for it.

    Does nothing in a loop that a thread waits for: `take_up` queues the message for a worker.
    """
    if has_waiting_thread():
        return
    task = asyncio.create_task(answer_message(pk), name=f"chat message {pk}")
    _answering.add(task)
    task.add_done_callback(_answering.discard)
