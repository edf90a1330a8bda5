"""Errors of the API: one shape, RFC 9457."""

import json
from typing import Any

import pytest
from django.db import DatabaseError
from psycopg.errors import DiskFull
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView


def answer_to(error: Exception) -> tuple[Response, dict[str, Any]]:
    """What a client gets when a view raises `error`."""

    class View(APIView):
        authentication_classes = ()
        permission_classes = ()

        def get(self, _request: Request) -> Response:
            raise error

    response = View.as_view()(APIRequestFactory().get("/"))
    assert isinstance(response, Response)
    return response.render(), json.loads(response.content)


def test_not_found_is_a_problem_document() -> None:
    response, body = answer_to(exceptions.NotFound("No such document."))
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert body == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "No such document.",
        "code": "not_found",
    }


def test_wrong_fields_are_listed_with_dotted_paths() -> None:
    class Inner(serializers.Serializer[object]):
        size = serializers.IntegerField()

    class Outer(serializers.Serializer[object]):
        query = serializers.CharField()
        options = Inner()

    wrong = Outer(data={"options": {"size": "many"}})
    assert not wrong.is_valid()
    response, body = answer_to(exceptions.ValidationError(wrong.errors))
    assert response.status_code == 400
    assert [(error["field"], error["code"]) for error in body["errors"]] == [
        ("query", "required"),
        ("options.size", "invalid"),
    ]
    assert body["detail"] == f"query: {body['errors'][0]['detail']}"


def test_throttled_says_when_to_come_back() -> None:
    response, body = answer_to(exceptions.Throttled(wait=7))
    assert (response.status_code, response["Retry-After"], body["code"]) == (429, "7", "throttled")


def test_a_bug_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError):
        answer_to(ZeroDivisionError())


def test_a_database_without_room_is_a_full_storage() -> None:
    error = DatabaseError("could not extend file")
    error.__cause__ = DiskFull("could not extend file")
    response, body = answer_to(error)
    assert (response.status_code, body["code"]) == (507, "storage_full")
    assert "The server's disk is full, so nothing was saved." in body["detail"]
