"""Questions made of a knowledge base's own titles."""

import random

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Chunk, KnowledgeBase


def questions_about(principal: Principal, base: KnowledgeBase, count: int, seed: int) -> list[str]:
    """Raises InvalidInput where this person sees no passage of it."""
    rows = Chunk.objects.visible_to(principal).filter(knowledge_base=base).order_by("id")
    texts = sorted(
        {" ".join([title, *path[-1:]]) for title, path in rows.values_list("document__title", "heading_path")}
    )
    if not texts:
        raise InvalidInput(f"“{base.name}” has no passages that you may see; import documents first.")
    chance = random.Random(seed)  # noqa: S311 - repeats a run, hides nothing
    return [f"What is said about {chance.choice(texts)}?" for _ in range(count)]
