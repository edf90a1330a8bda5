"""API tokens of the person asking. They are the person's to make and to end: no token reaches these addresses, since one that
could make tokens would never really expire."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from authz.models import ApiToken
from authz.rest.views import PrincipalViewSet
from authz.scopes import DEFAULT_SCOPES, TokenScope
from authz.tokens.api_tokens import DEFAULT_DAYS, MAX_DAYS, issue_token, list_tokens, revoke_token
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import Filters, Input


class NewToken(Input):
    name = serializers.CharField(max_length=100, help_text="What uses it.")
    days = serializers.IntegerField(
        default=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS, help_text="Days until it expires."
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=TokenScope.choices),
        default=lambda: list(DEFAULT_SCOPES),
        allow_empty=False,
        help_text="What it may be used for; never more than you may.",
    )
    folder_id = serializers.UUIDField(
        default=None,
        allow_null=True,
        help_text="Of documents it reaches only this folder, with everything below it; business data (`sql`) lie in no folder.",
    )


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    folder_id = serializers.UUIDField(read_only=True, allow_null=True)

    class Meta:
        model = ApiToken
        fields: tuple[str, ...] = (
            "id", "name", "prefix", "scopes", "folder_id", "created_at", "expires_at", "last_used_at",
        )  # fmt: skip
        read_only_fields = fields


class IssuedToken(TokenSerializer):
    secret = serializers.CharField(read_only=True, help_text="Shown this once; send it as `Authorization: Bearer …`.")

    class Meta(TokenSerializer.Meta):
        fields: tuple[str, ...] = (*TokenSerializer.Meta.fields, "secret")
        read_only_fields = fields


class Tokens(ListModelMixin, PrincipalViewSet):
    lookup_value_converter = "int"
    serializer_class = TokenSerializer

    def get_queryset(self) -> QuerySet[ApiToken]:
        return list_tokens(self.principal)

    @describe_operation("List your API tokens", answer=TokenSerializer(many=True), problems=(400, 401, 403))
    def list(self, request: Request) -> Response:
        Filters.checked(request.query_params)
        return super().list(request)

    @describe_operation(
        "Make an API token; its secret is shown this once",
        body=NewToken,
        answer=IssuedToken,
        status=201,
        problems=(400, 401, 403, 404),
    )
    def create(self, request: Request) -> Response:
        given = NewToken.checked(request.data)
        token, secret = issue_token(self.principal, **given)
        shown: dict[str, Any] = {**TokenSerializer(token).data, "secret": secret}
        return Response(shown, status.HTTP_201_CREATED)

    @describe_operation("Revoke one of your API tokens", status=204, problems=(401, 403, 404))
    def destroy(self, request: Request, pk: int) -> Response:
        revoke_token(self.principal, token_id=pk)
        return Response(status=status.HTTP_204_NO_CONTENT)
