"""Rights for those who govern places: effects of a change set, folders by groups, effective access of all."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from authz.explanations.decision_reasons import Considered, Fate
from authz.explanations.explain import Explanation, PathStep, Reason, StepKind
from authz.explanations.impact import Effects, PersonEffect, RightDelta
from authz.models import AccessRequest, RequestState
from authz.permissions import Right
from authz.principal import Principal
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import BINARY, describe_operation
from copilot_site.lib.http.strict_serializers import Filters, Input
from copilot_site.lib.text.spreadsheets import CsvDownload
from knowledge.governance.change_sets import OfUnits, WrittenChange, preview_changes
from knowledge.governance.changes import MembershipChange, What, compute_end_of_day
from knowledge.governance.effective_rights import MAX_TITLES, list_document_titles
from knowledge.governance.parameters import MODELS, find_reviewed_place, find_user_by_name
from knowledge.governance.review import (
    GroupRights,
    Matrix,
    MatrixRow,
    explain_rights,
    export_access,
    load_reviewed_matrix,
)
from knowledge.services.access_requests import REASON_LENGTH, find_nameable_folders, list_own_requests, request_access

MAX_CHANGES = 100
WHATS = [*What.choices, *MembershipChange.choices, *OfUnits.choices]


class OneChange(Input):
    """`give`, `take_back`, `deny`, `undeny`: kind, id, user or group, rights (until, reason). `break` (copy), `restore`, `tell`,
    `hide`, `move` (parent): kind, id. `join`, `leave`: user, group. `move_unit`: unit (below).
    """

    what = serializers.ChoiceField(choices=WHATS)
    kind = serializers.ChoiceField(choices=sorted(MODELS), required=False, help_text="What `id` names.")
    id = serializers.UUIDField(required=False, help_text="Of a knowledge base, folder or document that you manage.")
    user = serializers.CharField(default="", allow_blank=True, help_text="A sign-in name.")
    group = serializers.CharField(default="", allow_blank=True, help_text="The name of a group, unit or role.")
    rights = serializers.ListField(child=serializers.ChoiceField(choices=Right.choices), default=list)
    until = serializers.DateField(default=None, allow_null=True, help_text="The last day of what is given.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=500, help_text="Of a denial.")
    copy = serializers.BooleanField(default=False, help_text="Keep what is granted from above on the place itself.")
    parent = serializers.UUIDField(  # type: ignore[assignment]  # a declared field leaves the class
        default=None, allow_null=True, help_text="The new parent folder."
    )
    unit = serializers.CharField(default="", allow_blank=True, help_text="The name of an org unit.")
    below = serializers.CharField(default="", allow_blank=True, help_text="The new parent unit; empty: at the top.")


class Changes(Input):
    changes = OneChange(  # type: ignore[call-arg]  # the length is the list's
        many=True, allow_empty=False, max_length=MAX_CHANGES, help_text="Each made after the one before."
    )


class DeltaSerializer(serializers.Serializer[RightDelta]):
    right = serializers.ChoiceField(choices=Right.choices)
    documents = serializers.SerializerMethodField(help_text="How many.")

    def get_documents(self, delta: RightDelta) -> int:
        return len(delta.documents)


class PersonEffectSerializer(serializers.Serializer[PersonEffect]):
    username = serializers.CharField(source="person.username")
    name = serializers.CharField(source="person.name")
    gains = DeltaSerializer(many=True)
    losses = DeltaSerializer(many=True)


class SideSerializer(serializers.Serializer[Any]):
    people = serializers.IntegerField()
    documents = serializers.IntegerField(help_text="Documents that somebody gains (or loses) as sources of answers.")
    titles = serializers.ListField(child=serializers.CharField(), help_text=f"Of the first {MAX_TITLES}.")


class EffectsSerializer(serializers.Serializer[Any]):
    """What would change for whom. `people`: everybody who gains or loses anything, by sign-in name."""

    gained = SideSerializer()
    lost = SideSerializer()
    people = PersonEffectSerializer(many=True)


class PreviewOfChanges(PrincipalView):
    token_scopes = {"post": (TokenScope.AUDIT,)}
    serializer_class = EffectsSerializer

    @describe_operation(
        "Show whom a set of changes of rights would touch; nothing is saved",
        body=Changes,
        answer=EffectsSerializer,
        problems=(400, 401, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        given = Changes.checked(request.data)
        effects = preview_changes(self.principal, [_build_asked_change(item) for item in given["changes"]])
        return Response(self.get_serializer(_format_effects(self.principal, effects)).data)


class WhichBase(Input):
    knowledge_base = serializers.UUIDField(help_text="In which you manage something; any for auditors.")


class WhichBases(Input):
    knowledge_base = serializers.UUIDField(
        required=False, help_text="Only this one; else all in which you manage something, or all for auditors."
    )


class CellSerializer(serializers.Serializer[GroupRights]):
    held = serializers.ListField(child=serializers.ChoiceField(choices=Right.choices))
    denied = serializers.ListField(child=serializers.ChoiceField(choices=Right.choices))


class MatrixRowSerializer(serializers.Serializer[MatrixRow]):
    """A place; `depth` 0 is the knowledge base. `cells` stand in the order of `groups`."""

    id = serializers.UUIDField(source="place.id")
    name = serializers.CharField(source="place.name")
    kind = serializers.CharField(source="place.kind")
    depth = serializers.IntegerField()
    cells = CellSerializer(many=True)


class MatrixSerializer(serializers.Serializer[Matrix]):
    groups = serializers.SerializerMethodField(help_text="Groups, units and roles with a right or a denial there.")
    rows = MatrixRowSerializer(many=True)
    left_out = serializers.IntegerField(help_text="Further places, which only the export has.")

    def get_groups(self, matrix: Matrix) -> list[str]:
        return [group.username for group in matrix.groups]


class RightsMatrix(PrincipalView):
    token_scopes = {"get": (TokenScope.AUDIT,)}
    serializer_class = MatrixSerializer

    @describe_operation("Show folders by groups", query=WhichBase, answer=MatrixSerializer, problems=(400, 401, 404))
    def get(self, request: Request) -> Response:
        _base, found = load_reviewed_matrix(self.principal, WhichBase.checked(request.query_params)["knowledge_base"])
        return Response(self.get_serializer(found).data)


class EffectiveAccess(PrincipalView):
    token_scopes = {"get": (TokenScope.AUDIT,)}

    @describe_operation(
        "Export everybody's effective access as CSV; the export is recorded",
        query=WhichBases,
        answer=BINARY,
        problems=(400, 401, 404),
        media_type="text/csv",
    )
    def get(self, request: Request) -> CsvDownload:
        rows, filename = export_access(self.principal, WhichBases.checked(request.query_params).get("knowledge_base"))
        return CsvDownload(rows, filename=filename)


def _build_asked_change(given: dict[str, Any]) -> WrittenChange:
    until, named = given.pop("until"), given.pop("rights")
    rights = tuple(right for right in Right if right.value in named)
    return WrittenChange(**given, rights=rights, ends_at=compute_end_of_day(until) if until else None)


def _format_effects(by: Principal, effects: Effects) -> dict[str, Any]:
    return {
        "gained": _summarise_side(by, len(effects.gaining), effects.gained_documents),
        "lost": _summarise_side(by, len(effects.losing), effects.lost_documents),
        "people": effects.people,
    }


def _summarise_side(by: Principal, people: int, documents: Collection[UUID]) -> dict[str, Any]:
    titles = list_document_titles(by, documents, most=MAX_TITLES)
    return {"people": people, "documents": len(documents), "titles": titles}


class NewRequest(Input):
    folder = serializers.UUIDField(help_text="One of the `offers` of an answer, as `folder_id`.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=REASON_LENGTH)


class AccessRequestSerializer(serializers.ModelSerializer[AccessRequest]):
    """`folder_name` is empty once its name may not be told any more. `ends_at`: of what was granted, if it ends."""

    folder_name = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=RequestState.choices, read_only=True)

    class Meta:
        model = AccessRequest
        fields = ("id", "folder", "folder_name", "reason", "state", "asked_at", "decided_at", "answer", "ends_at")
        read_only_fields = fields

    def get_folder_name(self, asked: AccessRequest) -> str:
        return asked.folder.name if asked.folder_id in self.context["named"] else ""


class AccessRequests(ListModelMixin, PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,), "post": (TokenScope.CHAT,)}
    serializer_class = AccessRequestSerializer

    def get_queryset(self) -> Any:
        Filters.checked(self.request.query_params)
        return list_own_requests(self.principal).order_by("-asked_at", "-id")

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "named": find_nameable_folders(self.principal)}

    @describe_operation("List your requests for access", answer=AccessRequestSerializer(many=True), problems=(400, 401))
    def get(self, request: Request) -> Response:
        return self.list(request)

    @describe_operation(
        "Ask the managers of a folder to let you view it",
        body=NewRequest,
        answer=AccessRequestSerializer,
        status=201,
        problems=(400, 401, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        given = NewRequest.checked(request.data)
        asked = request_access(self.principal, folder_id=given["folder"], reason=given["reason"])
        return Response(self.get_serializer(asked).data, status.HTTP_201_CREATED)


class AskWhy(Input):
    user = serializers.CharField(help_text="The person's sign-in name.")
    right = serializers.ChoiceField(choices=Right.choices, default=Right.VIEW.value)
    kind = serializers.ChoiceField(choices=sorted(MODELS), help_text="What `id` names.")
    id = serializers.UUIDField(
        help_text="Of a knowledge base, folder or document that you manage; of any for auditors."
    )


class StepSerializer(serializers.Serializer[PathStep]):
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
    """`rule`: the one that decides; null where nothing is granted."""

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

    @describe_operation(
        "Explain why somebody holds a right on a place, or does not",
        query=AskWhy,
        answer=ExplanationSerializer,
        problems=(400, 401, 404),
    )
    def get(self, request: Request) -> Response:
        given: dict[str, Any] = AskWhy.checked(request.query_params)
        place = find_reviewed_place(self.principal, given["kind"], given["id"])
        found = explain_rights(self.principal, find_user_by_name(given["user"]), place)
        return Response(self.get_serializer(next(item for item in found if item.right == given["right"])).data)
