"""Source chips after sentences: one for all sources shared by consecutive sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agent.conversations.presentation.message import (
    CitedPassage,
    ShownMessage,
    ShownQuery,
    ShownSentence,
    ShownVerified,
)
from knowledge.text.language import detect_language


@dataclass(frozen=True)
class Chip:
    """name: for screen readers. label: the short title of the first source; more: number of others.

    address: opened in the drawer; anchor: of a result's table; neither for a result without a table. cards: ids of the
    cards, numbers: as in copied text. is_again: the chip before has the same sources, so this one needs no label. icon:
    of an anchor.
    """

    name: str
    label: str
    numbers: str
    more: int = 0
    address: str = ""
    anchor: str = ""
    cards: str = ""
    language: str = "en"
    is_again: bool = False
    icon: str = "chart"


def iterate_sentence_chips(
    message: ShownMessage, sources: Sequence[CitedPassage]
) -> Iterator[tuple[ShownSentence, list[Chip]]]:
    """Yield the sentences shown in the text, each with the chips after it.

    A sentence has none where the next one of the same paragraph has the same sources.
    """
    cited = {source.number: source for source in sources}
    queried = {query.number: query for query in message.queries}
    shown = [item for item in message.sentences if not item.is_masked]
    before: tuple[int, ...] = ()
    for place, sentence in enumerate(shown):
        following = shown[place + 1] if place + 1 < len(shown) else None
        goes_on = following is not None and "\n" not in following.gap and following.citations == sentence.citations
        if goes_on or not sentence.citations:
            yield sentence, []
            continue
        yield (
            sentence,
            list(
                _yield_source_chips(message, sentence.citations, cited, queried, is_again=sentence.citations == before)
            ),
        )
        before = sentence.citations


def _yield_source_chips(
    message: ShownMessage,
    numbers: Sequence[int],
    cited: Mapping[int, CitedPassage],
    queried: Mapping[int, ShownQuery],
    *,
    is_again: bool,
) -> Iterator[Chip]:
    passages = [cited[number] for number in numbers if number in cited]
    if passages:
        first = passages[0]
        named = ", ".join(str(source.number) for source in passages)
        titles = "; ".join(source.citation.passage.title for source in passages)
        text = _("Source %(number)s: %(title)s") if len(passages) == 1 else _("Sources %(number)s: %(title)s")
        yield Chip(
            name=text % {"number": named, "title": titles},
            label=first.label,
            numbers=named,
            more=len(passages) - 1,
            address=first.address,
            cards=" ".join(f"c-{message.id}-{source.number}" for source in passages),
            language=detect_language(first.label) or "en",
            is_again=is_again,
        )
    verified = {item.number: item for item in message.verified}
    outside = {page.number: page for page in message.pages}
    for number in numbers:
        if query := queried.get(number):
            yield Chip(
                name=_("Result %(number)s from %(source)s") % {"number": number, "source": query.source},
                label=query.source,
                numbers=str(number),
                anchor=f"r-{message.id}-{number}" if query.result else "",
                is_again=is_again,
            )
        elif known := verified.get(number):
            yield _make_verified_chip(message, known, is_again=is_again)
        elif page := outside.get(number):
            yield Chip(
                name=_("Source %(number)s from outside: %(host)s") % {"number": number, "host": page.host},
                label=page.host,
                numbers=str(number),
                anchor=f"w-{message.id}-{number}",
                icon="globe",
                is_again=is_again,
            )


def _make_verified_chip(message: ShownMessage, known: ShownVerified, *, is_again: bool) -> Chip:
    return Chip(
        name=_("Source %(number)s: verified by %(name)s") % {"number": known.number, "name": known.by},
        label=_("Verified"),
        numbers=str(known.number),
        anchor=f"v-{message.id}-{known.number}",
        icon="check",
        is_again=is_again,
    )
