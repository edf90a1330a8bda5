"""HTML inside Markdown: which words of a document its tags and styles hide. It may open in one block and close in another."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.parsers.hidden import Hidden, all_marks, with_mark, without_marks
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.precheck import check_html_depth
from knowledge.parsers.visibility import take_unseen

_RENDERER = MarkdownIt("commonmark").enable("table")
TAG = re.compile(r"(<(script|style)\b.*?</\2\s*>|<[^<>]*>)", re.DOTALL | re.IGNORECASE)
# Around a number that stands in for a text of the document while the page is looked at.
_BEGIN, _END = "\U0010fffa", "\U0010fffb"
_STAND_IN = re.compile(f"{_BEGIN}x([0-9]+)x{_END}")


class _Text:
    """One run of text: a token's, or what stands between two tags of a token."""

    def __init__(self, content: str) -> None:
        self.content = content


def take_unseen_html(tokens: Sequence[Token], limits: ParseLimits) -> Hidden:
    """Take what HTML hides out of the tokens of a document, leaving marks. Raises Rejected("too_deep")."""
    flat = list(_flat(tokens))
    if not any(token.type in ("html_inline", "html_block") for token in flat):
        return Hidden()
    texts: list[_Text] = []
    rebuilt: list[tuple[Token, list[str | _Text]]] = []
    for token in flat:
        parts = _parts(token)
        if parts:
            rebuilt.append((token, parts))
            token.content = "".join(_stand_in(part, texts) for part in parts)
    hidden = _looked_at(_RENDERER.renderer.render(list(tokens), _RENDERER.options, {}), texts, limits)
    for token, parts in rebuilt:
        token.content = "".join(part if isinstance(part, str) else part.content for part in parts)
    return hidden


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


def _parts(token: Token) -> list[str | _Text]:
    """The content of a token as tags and texts; [] for one that shows no text."""
    if token.type in ("text", "code_inline", "fence", "code_block"):
        return [_Text(token.content)]
    if token.type != "html_block":
        return []
    parts: list[str | _Text] = []
    for text, tag in zip_longest(*(TAG.split(token.content)[start::3] for start in (0, 1)), fillvalue=""):
        parts += [_Text(text) if text.strip() else text, tag]
    return parts


def _stand_in(part: "str | _Text", texts: list[_Text]) -> str:
    if isinstance(part, str):
        return part
    texts.append(part)
    return f"{_BEGIN}x{len(texts) - 1}x{_END}"


def _looked_at(page: str, texts: Sequence[_Text], limits: ParseLimits) -> Hidden:
    """Empty the texts that the page hides; the pieces are in their words again."""
    from lxml import html

    check_html_depth(page, limits)
    tree: Any = html.document_fromstring(page)
    hidden = take_unseen(tree)
    for number, (piece, reason) in enumerate(hidden.pieces):
        hidden.pieces[number] = (_STAND_IN.sub(lambda found: texts[int(found[1])].content, piece), reason)
        unseen = [texts[int(i)] for i in _STAND_IN.findall(piece)]
        for text in unseen:
            text.content = ""
    for text, marks in _marked(tree, texts):
        text.content = with_mark(text.content, marks)
    return hidden


def _marked(tree: Any, texts: Sequence[_Text]) -> Iterator[tuple[_Text, str]]:
    """The texts that marks stand in, with the marks."""
    for node in tree.itertext(with_tail=True):
        seen = _STAND_IN.findall(without_marks(node))
        if seen and (marks := all_marks(node)):
            yield texts[int(seen[-1])], marks
