"""Make questions of a knowledge base's own titles."""

import random

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Chunk, KnowledgeBase


def titles_in(principal: Principal, base: KnowledgeBase, count: int, chance: random.Random) -> list[str]:
    """Choose so many titles of documents, each with a heading below it where there is one.

    Raises InvalidInput where this person sees no passage of the base.
    """
    rows = Chunk.objects.visible_to(principal).filter(knowledge_base=base).order_by("id")
    titles = sorted(
        {" ".join([title, *path[-1:]]) for title, path in rows.values_list("document__title", "heading_path")}
    )
    if not titles:
        raise InvalidInput(f"“{base.name}” has no passages that you may see; import documents first.")
    return [chance.choice(titles) for _ in range(count)]
