"""Descriptions of API operations."""

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers

PROBLEM_TYPE = "application/problem+json"
BINARY = OpenApiTypes.BINARY
PROBLEMS = {
    400: "The request is invalid; `errors` names each wrong field.",
    401: "Nobody is signed in, or the token is unknown, expired or revoked.",
    403: "You can see it, but lack the right to this action.",
    404: "Missing, or not visible to you: the same answer for both.",
    409: "It conflicts with what exists.",
    429: "You have too many requests in progress; try again after `Retry-After` seconds.",
    500: "Something failed on our side.",
    503: "The server, or a service this needs, cannot answer now; try again after `Retry-After` seconds.",
}
ANYWHERE = (429, 503)  # every address answers so where more is asked than it can do


class FieldProblem(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Dotted path; empty where no single field is wrong.")
    detail = serializers.CharField()
    code = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """RFC 9457 problem details."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="One sentence for people.")
    code = serializers.CharField(required=False, help_text="One word for programs.")
    errors = FieldProblem(many=True, required=False)  # type: ignore[assignment]  # fields leave the class


def describe_operation(
    summary: str,
    *,
    body: Any = None,
    answer: Any = None,
    status: int = 200,
    also: Sequence[int] = (),
    query: type[serializers.Serializer[Any]] | None = None,
    problems: Sequence[int] = (400, 401, 403, 404),
    media_type: str = "application/json",
    name: str | None = None,
) -> Callable[..., Any]:
    """Describe a view's method.

    summary: the line a reader sees. body, answer: serializers; no answer for 204.
    also: further statuses with the same answer. problems: statuses of problem documents. name: of the operation, where its address gives
    none of its own.
    """
    responses: dict[Any, Any] = {
        (code, PROBLEM_TYPE): OpenApiResponse(Problem, description=PROBLEMS[code])
        for code in sorted({*problems, *ANYWHERE})
    }
    responses |= {(code if answer is None else (code, media_type)): answer for code in (status, *also)}
    return extend_schema(
        operation_id=name,
        summary=summary,
        request=body,
        responses=responses,
        parameters=[query] if query is not None else None,
    )


def share_problem_responses(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """Write each problem response once, as a component that operations refer to; a postprocessing hook of drf-spectacular."""
    shared: dict[str, Any] = {}
    for responses in (operation["responses"] for methods in result["paths"].values() for operation in methods.values()):
        for code, response in responses.items():
            if PROBLEM_TYPE in response.get("content", ()):
                shared[f"Problem{code}"] = response
                responses[code] = {"$ref": f"#/components/responses/Problem{code}"}
    result["components"]["responses"] = dict(sorted(shared.items()))
    return result
