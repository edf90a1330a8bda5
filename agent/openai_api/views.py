"""`/v1`: models, chat completions, responses, embeddings: the same questions under the same rights, budgets, queues and audit."""

import base64
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from http import HTTPStatus
from typing import Any

import numpy as np
from asgiref.sync import async_to_sync
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from numpy.typing import NDArray
from rest_framework.request import Request
from rest_framework.response import Response

from agent.openai_api import responses
from agent.openai_api.answers import OpenAIAnswer, format_event_frame
from agent.openai_api.conversation import DEFAULT, start_program_run
from agent.openai_api.requests import ChatCompletionRequest, EmbeddingRequest, ResponseRequest
from agent.profile_choice import usable_profiles
from agent.rest.sse import ALIVE, EventStream, WhateverIsAccepted
from agent.text_answer import stream_answer_pieces
from authz.principal import Principal
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.errors import NotFound
from copilot_site.lib.http.deferred_response import Later
from copilot_site.lib.http.error_pages import build_openai_error
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.load.waiting import require_waiting_client
from knowledge.embedding.base import Embedder
from knowledge.retrieval.engine import load_engine

AT_ONCE = 4  # texts per batch before checking that the program is still connected; about two seconds for the longest


class OpenAIView(PrincipalView):
    """Refusals have the form that OpenAI's clients read, with our sentences and statuses."""

    def handle_exception(self, exc: Exception) -> Response:
        refused: Response = super().handle_exception(exc)
        if "detail" in refused.data:
            refused.data = build_openai_error(refused.data["detail"], refused.data.get("code", "failed"))
            refused.content_type = "application/json"
        return refused


class Models(OpenAIView):
    token_scopes = {"get": (TokenScope.CHAT, TokenScope.SEARCH)}

    @describe_operation(
        "List profiles and the embedder as models of OpenAI's API", answer=OpenApiTypes.OBJECT, problems=(401, 403)
    )
    def get(self, request: Request) -> Response:
        return Response(
            {"object": "list", "data": [_build_model_entry(name) for name in _list_model_names(self.principal)]}
        )


class OneModel(OpenAIView):
    token_scopes = {"get": (TokenScope.CHAT, TokenScope.SEARCH)}

    @describe_operation(
        "Read a profile or the embedder as a model of OpenAI's API",
        answer=OpenApiTypes.OBJECT,
        problems=(401, 403, 404),
        name="v1_model_retrieve",
    )
    def get(self, request: Request, model: str) -> Response:
        if model not in _list_model_names(self.principal):
            raise NotFound(_("There is no model “%(name)s”.") % {"name": model[:80]})
        return Response(_build_model_entry(model))


def _list_model_names(principal: Principal) -> list[str]:
    return [DEFAULT, *usable_profiles(principal).values_list("name", flat=True), load_engine().space]


def _build_model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "copilot"}


class ChatCompletions(OpenAIView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    content_negotiation_class = WhateverIsAccepted

    @describe_operation(
        "Ask as a client of OpenAI's API; `model` is a profile, citations are annotations and footnotes",
        body=ChatCompletionRequest,
        answer=OpenApiTypes.OBJECT,
        problems=(400, 401, 403, 404),
    )
    def post(self, request: Request) -> HttpResponseBase:
        given = ChatCompletionRequest.checked(request.data)
        answer = start_program_run(self.principal, request, given)
        if given["stream"]:
            is_counted = bool(given["stream_options"] and given["stream_options"]["include_usage"])
            return EventStream(_iterate_chunks(self.principal, answer, is_counted=is_counted))
        return _respond_when_finished(request, self.principal, answer, OpenAIAnswer.whole)


class Responses(OpenAIView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    content_negotiation_class = WhateverIsAccepted

    @describe_operation(
        "Ask as a client of OpenAI's Responses API; `previous_response_id` goes on with a conversation",
        body=ResponseRequest,
        answer=OpenApiTypes.OBJECT,
        problems=(400, 401, 403, 404),
    )
    def post(self, request: Request) -> HttpResponseBase:
        given = ResponseRequest.checked(request.data)
        answer = start_program_run(self.principal, request, given)
        if given["stream"]:
            return EventStream(responses.iterate_response_events(self.principal, answer))
        return _respond_when_finished(request, self.principal, answer, responses.format_whole_response)


def _respond_when_finished(
    request: Request, principal: Principal, answer: OpenAIAnswer, shown: Callable[[OpenAIAnswer], dict[str, Any]]
) -> HttpResponseBase:
    """Return the whole answer once its run has ended. shown: formats it."""
    whole = partial(_build_whole_response, principal, answer, shown)
    if hasattr(request._request, "seat"):  # the handler of a web process, which awaits it
        return Later(whole)
    return async_to_sync(whole)()


async def _build_whole_response(
    principal: Principal, answer: OpenAIAnswer, shown: Callable[[OpenAIAnswer], dict[str, Any]]
) -> HttpResponse:
    async with aclosing(stream_answer_pieces(principal, answer, is_sent=False)) as grown:
        async for _piece in grown:
            pass
    if answer.error:
        return JsonResponse(build_openai_error(answer.error, "failed"), status=HTTPStatus.INTERNAL_SERVER_ERROR)
    answer.close()
    return JsonResponse(shown(answer))


async def _iterate_chunks(principal: Principal, answer: OpenAIAnswer, *, is_counted: bool) -> AsyncIterator[bytes]:
    async with aclosing(stream_answer_pieces(principal, answer, is_sent=True)) as grown:
        yield format_event_frame(answer.chunk({"role": "assistant", "content": ""}))
        async for piece in grown:
            if piece is None:
                yield ALIVE
            elif piece:
                yield format_event_frame(answer.chunk({"content": piece}))
    if answer.error:
        yield format_event_frame(build_openai_error(answer.error, "failed"))
    else:
        last = {"content": answer.close(), "annotations": answer.annotations}
        yield format_event_frame(answer.chunk(last)) + format_event_frame(answer.chunk({}, finish=answer.finish))
        if is_counted:
            yield format_event_frame(answer.used())
    yield b"data: [DONE]\n\n"


def _embed_in_batches(embedder: Embedder, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
    """Yield a vector for each text, embedded in batches; stop after the program has disconnected."""
    for start in range(0, len(texts), AT_ONCE):
        require_waiting_client()
        yield from embedder.embed_passages(texts[start : start + AT_ONCE])


class Embeddings(OpenAIView):
    token_scopes = {"post": (TokenScope.SEARCH,)}

    @describe_operation(
        "Embed texts by the embedder of this site, as passages are embedded",
        body=EmbeddingRequest,
        answer=OpenApiTypes.OBJECT,
        problems=(400, 401, 403, 404),
    )
    def post(self, request: Request) -> Response:
        given = EmbeddingRequest.checked(request.data)
        here = load_engine()
        if given["model"] != here.space:
            raise NotFound(
                _("There is no embedding model “%(name)s” here, only “%(known)s”.")
                % {"name": given["model"], "known": here.space}
            )
        vectors = _embed_in_batches(here.embedder, given["input"])
        is_packed = given["encoding_format"] == "base64"
        rows: list[dict[str, Any]] = [
            {
                "object": "embedding",
                "index": index,
                "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode()
                if is_packed
                else vector.tolist(),
            }
            for index, vector in enumerate(vectors)
        ]
        count = sum(here.embedder.count_tokens(given["input"]))
        usage = {"prompt_tokens": count, "total_tokens": count}
        return Response({"object": "list", "model": here.space, "data": rows, "usage": usage})
