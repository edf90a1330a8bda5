"""HTML inside Markdown: which words of a document its tags and styles hide. It may open in one block and close in another."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.parsers.hidden import Hidden, HiddenReason, all_marks, with_mark, without_marks
from knowledge.parsers.html_hidden import take_unseen
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.precheck import page_tree

_RENDERER = MarkdownIt("commonmark").enable("table")
# What of a piece of HTML is no text: comments with what they say in a group of their own, and everything between < and >.
_SILENT = "script|style|iframe|noembed|noframes|xmp|textarea|title"
TAG = re.compile(
    rf"<!--(?:-?>|(?P<comment>.*?)(?:-->|\Z))|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<![a-z][^>]*(?:>|\Z)"
    rf"|<(?P<silent>{_SILENT})\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>.*?(?:</(?P=silent)\s*>|\Z)"
    r"|</?[a-z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
    re.DOTALL | re.IGNORECASE,
)
# Around a number that stands in for a text of the document while the page is looked at.
_BEGIN, _END = "\U0010fffa", "\U0010fffb"
_OF_TEXT = frozenset({"text", "code_inline", "fence", "code_block"})
_STAND_IN = re.compile(f"{_BEGIN}x([0-9]+)x{_END}")


class _Text:
    """One run of text: a token's, or what stands between two tags of a token."""

    def __init__(self, content: str) -> None:
        self.content = content


def take_unseen_html(tokens: Sequence[Token], limits: ParseLimits) -> Hidden:
    """Take what HTML hides out of the tokens of a document, leaving marks. Raises Rejected("too_deep")."""
    flat = list(_flat(tokens))
    if not any(token.type in ("html_inline", "html_block", "image") for token in flat):
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
    """The content of a token as tags and texts; [] for one that says nothing. What a comment says is a text."""
    if token.type in _OF_TEXT:
        return [_Text(token.content)]
    if token.type not in ("html_block", "html_inline"):
        return []
    parts: list[str | _Text] = []
    place = 0
    for tag in TAG.finditer(token.content):
        text = token.content[place : tag.start()]
        parts += [_Text(text) if text.strip() else text]
        if tag[0].startswith("<!--"):
            parts += ["<!--", _Text(tag["comment"] or ""), "-->"]
        else:
            parts.append(tag[0])
        place = tag.end()
    rest = token.content[place:]
    return [*parts, _Text(rest) if rest.strip() else rest]


def _stand_in(part: "str | _Text", texts: list[_Text]) -> str:
    if isinstance(part, str):
        return part
    texts.append(part)
    return f"{_BEGIN}x{len(texts) - 1}x{_END}"


def _looked_at(page: str, texts: Sequence[_Text], limits: ParseLimits) -> Hidden:
    """Empty the texts that the page hides; the pieces are in their words again."""
    tree = page_tree(page, limits)
    hidden = take_unseen(tree)
    for number, (piece, reason) in enumerate(hidden.pieces):
        hidden.pieces[number] = (_STAND_IN.sub(lambda found: texts[int(found[1])].content, piece), reason)
        unseen = [texts[int(i)] for i in _STAND_IN.findall(piece)]
        for text in unseen:
            text.content = ""
    shown = {int(number) for node in _shown(tree) for number in _STAND_IN.findall(without_marks(node))}
    for number, text in enumerate(texts):
        if number not in shown and text.content:  # a page holds it where nothing is shown: in a script, in an attribute
            hidden.take(text.content, HiddenReason.NOT_DISPLAYED, apart=True)
            text.content = ""
    for text, marks in _marked(tree, texts):
        text.content = with_mark(text.content, marks)
    return hidden


def _shown(tree: Any) -> Iterator[str]:
    """The texts of a page that has been looked at, but for those of scripts, styles and comments."""
    for element in tree.iter():
        if isinstance(element.tag, str) and element.tag not in ("script", "style"):
            yield element.text or ""
        yield element.tail or ""


def _marked(tree: Any, texts: Sequence[_Text]) -> Iterator[tuple[_Text, str]]:
    """The texts that marks stand in, with the marks."""
    for node in tree.itertext(with_tail=True):
        seen = _STAND_IN.findall(without_marks(node))
        if seen and (marks := all_marks(node)):
            yield texts[int(seen[-1])], marks
