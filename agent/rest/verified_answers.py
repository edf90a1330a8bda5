"""Verified answers: those usable for the caller, and changes by their keepers."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from agent.models import Flag
from agent.verified_answers.selectors import (
    ShownAnswer,
    get_managed_answer,
    iterate_shown_answers,
    record_answers_shown,
    visible_answers_of,
)
from agent.verified_answers.services import (
    MAX_SOURCES,
    TEXT_CHARACTERS,
    KeeperInput,
    change_wordings,
    confirm_verified_answer,
    delete_verified_answer,
    save_verified_text,
)
from agent.verified_answers.wordings import MAX_WORDINGS, QUESTION_CHARACTERS
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import EmptyBody, Filters, Input
from knowledge.rest.search import build_ids_field

READS, KEEPS = (TokenScope.SEARCH, TokenScope.INGEST), (TokenScope.INGEST,)


class GivenAnswer(Input):
    """A text in a folder. Of an answer that is a query only `wordings` and `valid_until` are taken."""

    folder = serializers.UUIDField(required=False, help_text="The folder whose rights it has.")
    question = serializers.CharField(required=False, max_length=QUESTION_CHARACTERS)
    text = serializers.CharField(required=False, max_length=TEXT_CHARACTERS)
    wordings = serializers.ListField(
        child=serializers.CharField(max_length=QUESTION_CHARACTERS),
        default=list,
        max_length=MAX_WORDINGS,
        help_text="Other ways to ask the same.",
    )
    documents = build_ids_field("The documents that it stands on, by id.")
    data_sources = serializers.ListField(
        child=serializers.CharField(max_length=100),
        default=list,
        max_length=MAX_SOURCES,
        help_text="The data sources that it stands on, by name.",
    )
    valid_until = serializers.DateField(required=False, allow_null=True, default=None)


class VerifiedAnswerSerializer(serializers.Serializer[ShownAnswer]):
    """`text`, or the query of a data source in `sql`. `flag`: why it has to be reviewed; until then it answers nothing."""

    id = serializers.UUIDField(source="row.pk")
    folder = serializers.UUIDField(source="row.folder_id", allow_null=True)
    data_source = serializers.CharField(source="row.source.name", default="")
    question = serializers.CharField(source="row.question")
    wordings = serializers.ListField(source="others", child=serializers.CharField())
    text = serializers.CharField(source="row.text")
    sql = serializers.CharField(source="row.sql")
    documents = serializers.SerializerMethodField()
    data_sources = serializers.SerializerMethodField()
    valid_until = serializers.DateField(source="row.expires_on", allow_null=True)
    verified_by = serializers.CharField(source="row.verified_by.username", default="")
    verified_at = serializers.DateTimeField(source="row.verified_at")
    flag = serializers.ChoiceField(choices=Flag.choices, allow_blank=True, source="row.flag")
    why = serializers.CharField(source="fault", help_text="The same in words, with what was found just now.")

    def get_documents(self, shown: ShownAnswer) -> list[UUID]:
        return [document.pk for document in shown.documents]

    def get_data_sources(self, shown: ShownAnswer) -> list[str]:
        return [source.name for source in shown.data_sources]


class _Answers(PrincipalView):
    serializer_class = VerifiedAnswerSerializer

    def _load_shown_answer(self, answer_id: UUID) -> dict[str, Any]:
        """Return a verified answer that the caller may see, and audit it. Raises NotFound."""
        found = next(iterate_shown_answers(visible_answers_of(self.principal).filter(pk=answer_id)), None)
        if found is None:
            raise NotFound(_("There is no such verified answer, or you cannot see it."))
        record_answers_shown(self.principal, [found])
        return dict(self.get_serializer(found).data)


class VerifiedAnswers(_Answers):
    token_scopes = {"get": READS, "post": KEEPS}

    @describe_operation(
        "List the verified answers that you may be given, and those you keep",
        answer=VerifiedAnswerSerializer(many=True),
        problems=(400, 401),
    )
    def get(self, request: Request) -> Response:
        Filters.checked(request.query_params)
        shown = list(iterate_shown_answers(self.paginate_queryset(visible_answers_of(self.principal)) or []))
        record_answers_shown(self.principal, shown)
        return self.get_paginated_response(self.get_serializer(shown, many=True).data)

    @describe_operation(
        "Verify an answer", body=GivenAnswer, answer=VerifiedAnswerSerializer, status=201,
        problems=(400, 401, 403, 404, 409),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        given, folder_id = _read_given_fields(GivenAnswer.checked(request.data))
        made = save_verified_text(self.principal, given, folder_id=folder_id)
        return Response(self._load_shown_answer(made.pk), status.HTTP_201_CREATED)


class OneVerifiedAnswer(_Answers):
    token_scopes = {"get": READS, "put": KEEPS, "delete": KEEPS}

    @describe_operation("Read a verified answer", answer=VerifiedAnswerSerializer, problems=(401, 404))
    def get(self, request: Request, verified_id: UUID) -> Response:
        return Response(self._load_shown_answer(verified_id))

    @describe_operation(
        "Change a verified answer; you verify it by that", body=GivenAnswer, answer=VerifiedAnswerSerializer,
        problems=(400, 401, 403, 404, 409),
    )  # fmt: skip
    def put(self, request: Request, verified_id: UUID) -> Response:
        answer = GivenAnswer.checked(request.data)
        if get_managed_answer(self.principal, verified_id).source_id is not None:
            change_wordings(self.principal, verified_id, wordings=answer["wordings"], expires_on=answer["valid_until"])
        else:
            given, folder_id = _read_given_fields(answer)
            save_verified_text(self.principal, given, folder_id=folder_id, answer_id=verified_id)
        return Response(self._load_shown_answer(verified_id))

    @describe_operation("Delete a verified answer", status=204, problems=(401, 404))
    def delete(self, request: Request, verified_id: UUID) -> Response:
        delete_verified_answer(self.principal, verified_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class VerifyAgain(_Answers):
    token_scopes = {"post": KEEPS}

    @describe_operation(
        "Say that a verified answer still holds, with its sources as they are now", body=EmptyBody,
        answer=VerifiedAnswerSerializer, problems=(400, 401, 403, 404),
    )  # fmt: skip
    def post(self, request: Request, verified_id: UUID) -> Response:
        EmptyBody.checked(request.data)
        confirm_verified_answer(self.principal, verified_id)
        return Response(self._load_shown_answer(verified_id))


def _read_given_fields(data: Mapping[str, Any]) -> tuple[KeeperInput, UUID]:
    """Return the text's fields and its folder. Raises InvalidInput without folder, question or text."""
    for name in ("folder", "question", "text"):
        if not data.get(name):
            raise InvalidInput(_("“%(name)s” is needed.") % {"name": name})
    given = KeeperInput(
        data["question"], data["text"], data["wordings"], data["valid_until"], data["documents"], data["data_sources"]
    )
    return given, data["folder"]
