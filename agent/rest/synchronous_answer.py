"""The question of a request: launched immediately, and answered when its run ends, without occupying a thread."""

from functools import partial
from http import HTTPStatus
from uuid import UUID

import structlog
from asgiref.sync import async_to_sync
from django.db import close_old_connections, connection
from django.http import HttpResponse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agent.conversations.sessions import get_message, get_session
from agent.events import StopReason
from agent.profiles.settings import Options
from agent.run_state.run import Run
from agent.run_state.threads import run_front_call
from agent.runs.run import complete_run
from agent.runs.start import start_run
from authz.principal import Principal
from authz.rest.views import PrincipalView
from copilot_site.lib.http.deferred_response import Later
from copilot_site.lib.http.problem_details import build_problem, problem_handler
from knowledge.retrieval.search import Scope

log = structlog.get_logger(__name__)


def start_synchronous_run(
    principal: Principal, session_id: UUID, question: str, *, scope: Scope, language: str, options: Options
) -> Run:
    """Start a run as `agent.runs.start.start_run` does, releasing the request thread's connection while it waits."""
    if not connection.in_atomic_block:
        close_old_connections()
    return async_to_sync(start_run)(principal, session_id, question, scope=scope, language=language, options=options)


def respond_with_answer(view: PrincipalView, request: Request, run: Run) -> HttpResponse:
    """Return the answer as 201 when the run ends; a problem document where it failed."""
    made = partial(_complete_and_respond, view, request, run, get_language() or "en")
    if hasattr(request._request, "seat"):  # the handler of a web process, which awaits it
        return Later(made)
    return async_to_sync(made)()


async def _complete_and_respond(view: PrincipalView, request: Request, run: Run, language: str) -> HttpResponse:
    await complete_run(run)
    return await run_front_call(_build_answer_response, view, request, run, language)


def _build_answer_response(view: PrincipalView, request: Request, run: Run, language: str) -> Response:
    with override(language):
        try:
            reader = view.principal.again()  # rights may have changed during the run
            answer = get_message(reader, get_session(reader, run.session_id), run.message_id)
            if answer.stop_reason == StopReason.TOOL_ERROR:
                found = build_problem(HTTPStatus.INTERNAL_SERVER_ERROR, answer.content, code="failed")
            else:
                found = Response(view.get_serializer(answer).data, status.HTTP_201_CREATED)
        except Exception as error:  # noqa: BLE001 - an edge: as the view itself, which has ended long ago
            found = problem_handler(error, {"view": view, "request": request}) or _build_failure_response(run, error)
        view.headers = {}
        answered: Response = view.finalize_response(request, found).render()
        return answered


def _build_failure_response(run: Run, error: Exception) -> Response:
    log.error("answer.not_shown", run=str(run.message_id), exc_info=error)
    sentence = _("Something went wrong on our side. Your question is kept; open the conversation again in a moment.")
    return build_problem(HTTPStatus.INTERNAL_SERVER_ERROR, sentence, code="failed")
