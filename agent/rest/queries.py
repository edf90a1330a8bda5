"""The query result of an answer: as CSV, run again, corrected."""

from uuid import UUID

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from agent.conversations.sessions import get_message, get_session
from agent.query_results.results import ResultPlace, correct_statement, export_result, rerun_statement
from agent.rest.serializers import MessageSerializer
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import BINARY, describe_operation
from copilot_site.lib.http.strict_serializers import EmptyBody, Input
from copilot_site.lib.text.spreadsheets import CsvDownload


class Corrected(Input):
    sql = serializers.CharField(max_length=8_000, help_text="One PostgreSQL SELECT that answers the question.")


class ResultFile(PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,)}

    @describe_operation(
        "Download the result of a query as CSV", answer=BINARY, problems=(401, 404), media_type="text/csv"
    )
    def get(self, request: Request, pk: UUID, message_id: UUID, number: int) -> CsvDownload:
        rows, filename = export_result(self.principal, ResultPlace(pk, message_id, number))
        return CsvDownload(rows, filename=filename)


class _NewAnswer(PrincipalView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    besides = (TokenScope.SQL,)
    serializer_class = MessageSerializer

    def _build_created_response(self, session_id: UUID, answer_id: UUID) -> Response:
        answer = get_message(self.principal, get_session(self.principal, session_id), answer_id)
        return Response(self.get_serializer(answer).data, status.HTTP_201_CREATED)


class RunAgain(_NewAnswer):
    @describe_operation(
        "Run the query of an answer again, with the rights you have now",
        body=EmptyBody,
        answer=MessageSerializer,
        status=201,
        problems=(400, 401, 404),
    )
    def post(self, request: Request, pk: UUID, message_id: UUID, number: int) -> Response:
        EmptyBody.checked(request.data)
        return self._build_created_response(pk, rerun_statement(self.principal, ResultPlace(pk, message_id, number)))


class CorrectResult(_NewAnswer):
    @describe_operation(
        "Correct the query of an answer; what runs is the verified answer to its question",
        body=Corrected,
        answer=MessageSerializer,
        status=201,
    )
    def post(self, request: Request, pk: UUID, message_id: UUID, number: int) -> Response:
        given = Corrected.checked(request.data)
        return self._build_created_response(
            pk, correct_statement(self.principal, ResultPlace(pk, message_id, number), sql=given["sql"])
        )
