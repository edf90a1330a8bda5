"""Why can somebody do something somewhere? For those who manage the place, and for auditors."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from authz.decision_reasons import Considered, Fate
from authz.explain import Explanation, Reason, Step, StepKind
from authz.permissions import Right
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.openapi import operation
from copilot_site.lib.strict_serializers import Input
from knowledge.governance.explanations import explain_rights
from knowledge.governance.parameters import MODELS, reviewed_place, user_named


class AskWhy(Input):
    user = serializers.CharField(help_text="The person's sign-in name.")
    right = serializers.ChoiceField(choices=Right.choices, default=Right.VIEW.value)
    kind = serializers.ChoiceField(choices=sorted(MODELS), help_text="What `id` names.")
    id = serializers.UUIDField(
        help_text="Of a knowledge base, folder or document that you manage; of any for auditors."
    )


class StepSerializer(serializers.Serializer[Step]):
    kind = serializers.ChoiceField(choices=[kind.value for kind in StepKind])
    name = serializers.CharField()
    text = serializers.CharField()


class RuleSerializer(serializers.Serializer[Considered]):
    """A grant or denial. `fate`: what becomes of it here; `cut_by`: the folder that does not take it over."""

    place_id = serializers.UUIDField(source="place.id")
    place = serializers.CharField(source="place.name")
    holder_kind = serializers.CharField(source="row.holder_kind")
    holder = serializers.CharField(source="row.holder_name")
    is_denial = serializers.BooleanField(source="row.is_denial")
    since = serializers.DateTimeField(source="row.since")
    by = serializers.CharField(source="row.by")
    reason = serializers.CharField(source="row.reason")
    ends_at = serializers.DateTimeField(source="row.ends_at", allow_null=True)
    fate = serializers.ChoiceField(choices=[fate.value for fate in Fate])
    cut_by = serializers.CharField(source="cut_by.name", default=None, allow_null=True)


class ExplanationSerializer(serializers.Serializer[Explanation]):
    """`rule` is what the answer stands on; none where nothing is granted."""

    user = serializers.CharField(source="person.username")
    right = serializers.ChoiceField(choices=Right.choices)
    place_id = serializers.UUIDField(source="place.id")
    is_allowed = serializers.BooleanField()
    reason = serializers.ChoiceField(choices=Reason.choices)
    sentence = serializers.CharField()
    path = StepSerializer(many=True)
    rule = RuleSerializer(source="decisive", allow_null=True)
    others = RuleSerializer(many=True)


class Explain(PrincipalView):
    token_scopes = {"get": (TokenScope.AUDIT,)}
    serializer_class = ExplanationSerializer

    @operation(
        "Explain why somebody holds a right on a place, or does not",
        query=AskWhy,
        answer=ExplanationSerializer,
        problems=(400, 401, 404),
    )
    def get(self, request: Request) -> Response:
        given: dict[str, Any] = AskWhy.checked(request.query_params)
        place = reviewed_place(self.principal, given["kind"], given["id"])
        found = explain_rights(self.principal, user_named(given["user"]), place)
        return Response(self.get_serializer(next(each for each in found if each.right == given["right"])).data)
