"""A passage as Markdown, as given to a model and used to check its sentences."""

import re
from collections.abc import Sequence

from knowledge.text.passage_blocks import PassageBlock
from knowledge.text.pipe_table import cells_in, line_of, rule_of

_LIKE_A_MARK = re.compile(r"^(?=\s{0,3}(?:#{1,6}\s|```|~~~))", re.MULTILINE)


def as_markdown(text: str, blocks: Sequence[PassageBlock]) -> str:
    """Write headings, items, tables, code and links with the marks of Markdown; a passage without blocks stays as it is."""
    if not blocks:
        return text
    parts: list[str] = []
    end = 0
    for block in blocks:
        parts += [text[end : block.start], _written(text, block)]
        end = block.end
    return "".join([*parts, text[end:]])


def _written(text: str, block: PassageBlock) -> str:
    words = text[block.start : block.end]
    match block.kind:
        case "heading":
            return f"{'#' * (block.level or 1)} {_with_links(words, block)}"
        case "code":
            fence = "~~~~" if "```" in words else "```"
            return f"{fence}{block.language}\n{words}\n{fence}"
        case "table" | "chart" if not block.is_headed:
            width = len(cells_in(words.split("\n", 1)[0]))
            return f"{line_of([''] * width)}\n{rule_of(width)}\n{_with_links(words, block)}"
        case "table" | "chart" | "item":
            return _with_links(words, block)
        case _:
            return _LIKE_A_MARK.sub(r"\\", _with_links(words, block))


def _with_links(text: str, block: PassageBlock) -> str:
    for start, end, address in reversed(block.links):
        first, last = start - block.start, end - block.start
        text = f"{text[:first]}[{text[first:last]}]({address}){text[last:]}"
    return text
