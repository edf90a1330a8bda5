"""A document read by a language model for the graph of its base, within what the base may spend."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from django.db.models import F
from django.utils import timezone

from knowledge.graph.model_extractors import NoModel, Used, model_readers
from knowledge.graph.model_types import types_of
from knowledge.graph.pattern_extraction import Said
from knowledge.models import Chunk, Document, GraphSpending, KnowledgeBase

OVER = "what may be spent on the graph of this base in a month is spent"


def read_by_model(base: KnowledgeBase, document: Document, chunks: Sequence[Chunk]) -> tuple[list[Said], str]:
    """What a model says that each passage says, and why it does not, "" where it does. Tokens and money are counted either way."""
    nothing = [Said() for _chunk in chunks]
    types = types_of(base, document.language)
    most = types.most_a_month - spent_this_month(base) if types.most_a_month else None
    if most is not None and most <= 0:
        return nothing, OVER
    used = Used()
    try:
        for reader in model_readers:
            return reader(
                [chunk.text for chunk in chunks], types=types, language=document.language, most=most, used=used
            ), ""
    except NoModel as why:
        return nothing, str(why)[:200]
    finally:
        _count(base, used)
    return nothing, "no language model can be asked here"


def spent_this_month(base: KnowledgeBase) -> Decimal:
    row = GraphSpending.objects.filter(knowledge_base=base, month=_month()).first()
    return row.cost if row else Decimal(0)


def _count(base: KnowledgeBase, used: Used) -> None:
    if not used.input_tokens and not used.output_tokens:
        return
    row, _made = GraphSpending.objects.get_or_create(knowledge_base=base, month=_month())
    GraphSpending.objects.filter(pk=row.pk).update(
        input_tokens=F("input_tokens") + used.input_tokens,
        output_tokens=F("output_tokens") + used.output_tokens,
        cost=F("cost") + used.cost,
    )


def _month() -> date:
    return timezone.localdate().replace(day=1)
