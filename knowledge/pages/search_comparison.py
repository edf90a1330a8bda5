"""Comparison of a search's stages: the same passages in the order of each, to see why something is not found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.snapshot import take_snapshot
from knowledge.models import KnowledgeBase
from knowledge.retrieval.plan import Scope
from knowledge.retrieval.ranking import Ranked, Scores, rank_passages
from knowledge.retrieval.search import limit_per_document
from knowledge.selectors import ShownPassage, list_visible_passages

LAST = 1_000_000  # after every possible rank
TOP_K = 10


@dataclass(frozen=True)
class Setting:
    """A way to order the found passages. place: a passage's rank in it, from 1. is_spread: at most PER_DOCUMENT of one
    document come first, as in answers.
    """

    name: Promise
    place: Callable[[Scores], int]
    is_spread: bool = False


SETTINGS: Mapping[str, Setting] = {
    "product": Setting(
        _("as answers are found"), lambda scores: scores.rerank_rank or LAST + (scores.fused_rank or 0), is_spread=True
    ),
    "fused": Setting(_("meaning and words, without the second reading"), lambda scores: scores.fused_rank or LAST),
    "dense": Setting(_("meaning alone"), lambda scores: scores.dense_rank or LAST),
    "lexical": Setting(_("words alone"), lambda scores: scores.lexical_rank or LAST),
}


@dataclass(frozen=True)
class PlacedHit:
    """A hit at its place (from 1) in one setting. elsewhere: its place in the other setting; None where it is not among the first."""

    place: int
    passage: ShownPassage
    scores: Scores
    elsewhere: int | None


@dataclass(frozen=True)
class SearchTest:
    """hits: of the two settings, best first. visible: passages that the person could have been answered from."""

    settings: tuple[Setting, Setting]
    hits: tuple[tuple[PlacedHit, ...], tuple[PlacedHit, ...]]
    visible: int

    @property
    def sides(self) -> list[tuple[Setting, tuple[PlacedHit, ...]]]:
        return list(zip(self.settings, self.hits, strict=True))


class SearchTestForm(forms.Form):
    """A question, its scope, and the two settings. bases: those that the person sees."""

    q = forms.CharField(label=_("Question or words"), max_length=2_000)
    base: "forms.ModelChoiceField[KnowledgeBase]" = forms.ModelChoiceField(
        label=_("Where"), required=False, queryset=None, empty_label=_("everything that I may read")
    )
    left = forms.ChoiceField(
        label=_("On the left"), choices=[(name, item.name) for name, item in SETTINGS.items()], initial="product"
    )
    right = forms.ChoiceField(
        label=_("On the right"), choices=[(name, item.name) for name, item in SETTINGS.items()], initial="lexical"
    )

    def __init__(self, principal: Principal, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        base: Any = self.fields["base"]
        base.queryset = KnowledgeBase.objects.visible_to(principal)


def compare_search_settings(
    principal: Principal, query: str, *, base_id: UUID | None, left: str, right: str
) -> SearchTest:
    """Return the first TOP_K of both settings, out of what this person may read. Recorded as a search, never its words.

    Raises InvalidInput (no question, too long), EmbeddingError.
    """
    found = rank_passages(principal, query, scope=Scope(knowledge_base_ids=(base_id,) if base_id else ()))
    chosen = SETTINGS[left], SETTINGS[right]
    orders = [_select_first_hits(found.ranked, setting) for setting in chosen]
    texts = {
        item.chunk_id: item
        for item in list_visible_passages(principal, {row.chunk_id for order in orders for row in order})
    }
    detail = {
        "characters": len(query),
        "top_k": TOP_K,
        "chunks": [str(chunk_id) for chunk_id in texts],
        "documents": sorted({str(text.document_id) for text in texts.values()}),
        "perm_snapshot_id": take_snapshot(principal),
    }
    record_action(principal, Action.SEARCHED, detail=detail)
    sides = (_build_placed_hits(orders[0], orders[1], texts), _build_placed_hits(orders[1], orders[0], texts))
    return SearchTest(chosen, sides, found.visible)


def _select_first_hits(ranked: Sequence[Ranked], setting: Setting) -> list[Ranked]:
    """Return the first hits, without those that the setting's stage did not see."""
    seen = [row for row in ranked if setting.place(row.scores) != LAST]
    ordered = sorted(seen, key=lambda row: setting.place(row.scores))
    return limit_per_document(ordered, TOP_K) if setting.is_spread else ordered[:TOP_K]


def _build_placed_hits(
    order: Sequence[Ranked], other: Sequence[Ranked], texts: Mapping[UUID, ShownPassage]
) -> tuple[PlacedHit, ...]:
    places = {row.chunk_id: place for place, row in enumerate(other, start=1)}
    return tuple(
        PlacedHit(place, texts[row.chunk_id], row.scores, places.get(row.chunk_id))
        for place, row in enumerate(order, start=1)
        if row.chunk_id in texts
    )
