"""unstructured's elements to blocks."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from knowledge.parsers.blocks import Block, block
from knowledge.parsers.tables import html_rows, pipe_table

_NUMBERED = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]\s|[（(]?[一二三四五六七八九十]{1,3}[)）、]|\d{1,3}、")
_SKIPPED = frozenset({"PageBreak", "Header", "Footer", "PageNumber", "Image"})


def blocks_from(
    elements: Iterable[Any], *, is_heading: Callable[[Any], bool], has_pages: bool = False
) -> tuple[Block, ...]:
    """Elements in order; neighbouring list items make one list. is_heading: whether an element called Title is one.

    has_pages: whether the format has pages (slides) of its own; a DOCX file only remembers where some printer broke it.
    """
    kept = [element for element in elements if element.category not in _SKIPPED]
    blocks: list[Block] = []
    for (is_list, page), group in groupby(kept, key=lambda e: (e.category == "ListItem", e.metadata.page_number)):
        number = page if has_pages else None
        if is_list:
            blocks += block("list", _list(list(group)), page=number)
        else:
            for element in group:
                blocks += _block(element, is_heading(element), number)
    return tuple(blocks)


def _block(element: Any, is_heading: bool, page: int | None) -> list[Block]:
    if element.category == "Table":
        return block("table", _table(element), page=page) or block("paragraph", element.text, page=page)
    if element.category == "CodeSnippet":
        return block("code", f"```\n{element.text}\n```", page=page)
    if element.category == "Title" and is_heading:
        level = min(6, (element.metadata.category_depth or 0) + 1)
        return block("heading", " ".join(element.text.split()), level=level, page=page)
    return block("paragraph", element.text, page=page)


def _list(items: Sequence[Any]) -> str:
    depths = [item.metadata.category_depth or 0 for item in items]
    lines = []
    for item, depth in zip(items, depths, strict=True):
        text = " ".join(item.text.split())
        marker = "" if _NUMBERED.match(text) else "- "
        lines.append("  " * min(depth - min(depths), 8) + marker + text)
    return "\n".join(lines)


def _table(element: Any) -> str:
    from lxml import html

    source = element.metadata.text_as_html
    return pipe_table(html_rows(html.fromstring(source))) if source else ""
