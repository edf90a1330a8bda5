"""Render an answer as HTML: model text is rendered as Markdown and sanitised, quotations are shown verbatim."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import nh3
from django.template.loader import render_to_string
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from agent.conversations.presentation.chips import Chip, iterate_sentence_chips
from agent.conversations.presentation.message import ShownMessage, ShownSentence
from agent.passages.answer import NAME
from agent.run_state.cited_answer import parse_code_indent

OURS: Final = frozenset({"", NAME, "database", "calculate"})  # providers that write no Markdown
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "link", "autolink", "reference"])
)
_TAGS = {
    "p", "br", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "hr",
    "table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip
# Placeholders of chips, unchecked sentences and outside sources in Markdown: punctuation, so that adjacent emphasis works.
_CHIPS, _OPEN, _CLOSE, _OUTSIDE = "⁅⁆", "⸨", "⸩", "⁂"
_CHIP = re.compile(rf"\s*{_CHIPS[0]}(\d+){_CHIPS[1]}")
_MARKS = re.compile(rf"{_CHIP.pattern}|[{_OPEN}{_CLOSE}{_OUTSIDE}]")
_RESERVED = str.maketrans({_CHIPS[0]: "[", _CHIPS[1]: "]", _OPEN: "((", _CLOSE: "))", _OUTSIDE: "*"})
_STEP = re.compile(r"\n\d")
_FENCE = "~~~~~~~~"
_PIPE = re.compile(r"\|")
_CODE = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
_PART = re.compile(r"<h3>(.*?)</h3>", re.DOTALL)
MIN_PARTS = 3  # headings of a text that is long enough for a line of contents
_HEADING = re.compile(r"<(/?)h[1-6]>")

Part = tuple[ShownSentence, list[Chip]]


def render_answer(message: ShownMessage) -> SafeString:
    """Return the sentences of an answer that are not shown in tables, with their chips.

    Its content where it has no sentences.
    """
    if message.around is None or not message.sentences:
        return _render_plain_text(message.content)
    parts = list(iterate_sentence_chips(message, message.around.sources))
    is_written = message.provider not in OURS
    written = _add_table_of_contents(_render_markdown(_build_markdown(parts)), message) if is_written else ""
    body = written or _emphasise_value(_render_plain_text(_join_marked_sentences(parts, message.headlines)), message)
    chips = ["".join(map(_render_chip, item)) for _sentence, item in parts]
    unchecked = f'</span> <span class="unchecked-mark">{html.escape(_("(not checked against the source)"))}</span>'
    outside = f' <span class="outside-mark">{html.escape(_("(from outside)"))}</span>'
    body = body.replace(_OUTSIDE, outside).replace(_OPEN, '<span class="unchecked">').replace(_CLOSE, unchecked)
    return mark_safe(_CHIP.sub(lambda found: chips[int(found[1])], body))  # noqa: S308 - sanitised or escaped, chips by template


def _join_marked_sentences(parts: Sequence[Part], above: Mapping[str, str]) -> str:
    """Return the text with placeholders for its chips: each sentence after its gap. above: other texts for sentences."""
    pieces = (
        f"{sentence.gap or ' '}{_add_chip_placeholder(above.get(sentence.text, sentence.text), place, part)}"
        for place, part in enumerate(parts)
        for sentence in part[:1]
    )
    return "".join(pieces).strip()


def _build_markdown(parts: Sequence[Part]) -> str:
    """Return the same as Markdown, with rows in tables and lines of code in blocks."""
    tables = find_table_rows([sentence for sentence, _chips in parts])
    pieces: list[str] = []
    columns, before, in_code = None, "", False
    for place, (sentence, _chips) in enumerate(parts):
        row, indent = tables.get(place), parse_code_indent(sentence.gap)
        text = _add_chip_placeholder(sentence.text, place, parts[place])
        if in_code and indent is None:
            pieces.append(f"\n{_FENCE}\n\n")
        if row is not None:
            if row[0] is not columns:
                pieces.append(f"\n\n{_format_table_row(row[0])}\n{_format_table_row(['---'] * len(row[0]))}")
            cells = [row[1].get(name, "") for name in row[0]]
            pieces.append(
                "\n" + _format_table_row([*cells[:-1], _add_chip_placeholder(cells[-1], place, parts[place])])
            )
        elif indent is not None:
            pieces.append(f"{'' if in_code else f'{chr(10)}{chr(10)}{_FENCE}'}\n{indent}{text}")
        else:
            is_first_step = _STEP.match(sentence.gap) and not _STEP.match(before)  # else 2. goes on with a paragraph
            pieces.append(f"{chr(10) * 2 if columns or is_first_step else ''}{sentence.gap or ' '}{text}")
        columns, before, in_code = row[0] if row else None, sentence.gap or before, indent is not None
    return "".join([*pieces, f"\n{_FENCE}" if in_code else ""]).strip()


def _format_table_row(cells: Iterable[str]) -> str:
    escaped = (_PIPE.sub(r"\\|", cell) for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _add_chip_placeholder(text: str, place: int, part: Part) -> str:
    """Return a sentence with the placeholder of its chips, marked where it was not checked."""
    sentence, chips = part
    words = text.translate(_RESERVED)
    words = words if sentence.is_checked else f"{_OPEN}{words}{_CLOSE}"
    words = f"{words}{_OUTSIDE}" if sentence.is_outside else words
    return f"{words}{_CHIPS[0]}{place}{_CHIPS[1]}" if chips else words


def _emphasise_value(body: str, message: ShownMessage) -> str:
    """Stress the number of an answer that is one value: at the end of the sentence, or its first one."""
    value = html.escape(message.value)
    places = list(re.finditer(rf"(?<![\w.,]){re.escape(value)}(?!\w)", body)) if value else []
    if not places:
        return body
    at_end = [item for item in places if body[item.end() : item.end() + 1] in (_CHIPS[0], "<")]
    start, end = (at_end or places)[0].span()
    return f'{body[:start]}<strong class="figure">{value}</strong>{body[end:]}'


def _render_markdown(text: str) -> str:
    """Render Markdown as HTML without anything that loads, links or runs; headings are ranked below those of the page."""
    body = _HEADING.sub(r"<\1h3>", nh3.clean(_MARKDOWN.render(text), tags=_TAGS, attributes={"ol": {"start"}}))
    return (
        _add_copy_buttons(body)
        .replace("<table>", '<div class="table-scroll"><table class="written-table">')
        .replace("</table>", "</table></div>")
    )


def _add_copy_buttons(body: str) -> str:
    """Add a copy button to each block of code; it is hidden on a page without scripts."""
    return _CODE.sub(lambda found: render_to_string("agent/message/_code.html", {"code": mark_safe(found[1])}), body)  # noqa: S308 - sanitised


def _add_table_of_contents(body: str, message: ShownMessage) -> str:
    """Add a table of contents above a long text, and anchors to its headings; other text stays unchanged."""
    parts: list[tuple[str, str]] = []

    def named(found: re.Match[str]) -> str:
        anchor = f"h-{message.id}-{len(parts) + 1}"
        parts.append((anchor, html.unescape(strip_tags(_MARKS.sub("", found[1])))))
        return f'<h3 id="{anchor}" tabindex="-1">{found[1]}</h3>'

    body = _PART.sub(named, body)
    if len(parts) < MIN_PARTS:
        return body
    return render_to_string("agent/message/_contents.html", {"parts": parts}) + body


def _render_plain_text(text: str) -> SafeString:
    """Render plain text as paragraphs."""
    paragraphs = (html.escape(part).replace("\n", "<br>") for part in re.split(r"\n{2,}", text) if part.strip())
    return mark_safe("".join(f"<p>{part}</p>" for part in paragraphs))  # noqa: S308 - escaped


def _render_chip(chip: Chip) -> str:
    return render_to_string("agent/message/_cite.html", {"chip": chip})


ROW_GAP = "\n- "  # the gap before each row
MIN_ROWS, MIN_COLUMNS = 2, 2  # fewer are a list whose items happen to have colons

Cells = dict[str, str]


def find_table_rows(sentences: Sequence[ShownSentence]) -> dict[int, tuple[list[str], Cells]]:
    """Return table columns and cells of each sentence that is a table row, by its position.

    A table is a run of consecutive rows with the columns of its first row, or some of them.
    """
    found: dict[int, tuple[list[str], Cells]] = {}
    for _is_row, group in groupby(enumerate(sentences), key=lambda item: item[1].gap == ROW_GAP):
        for run in _group_rows_by_columns(
            [(place, _parse_cells(sentence.text)) for place, sentence in group if _is_row]
        ):
            columns = list(run[0][1])
            if len(run) >= MIN_ROWS:
                found |= {place: (columns, cells) for place, cells in run}
    return found


def _group_rows_by_columns(rows: Sequence[tuple[int, Cells]]) -> Iterator[list[tuple[int, Cells]]]:
    """Yield runs of consecutive rows whose columns are among those of the first."""
    run: list[tuple[int, Cells]] = []
    for place, cells in rows:
        if run and cells and cells.keys() <= run[0][1].keys():
            run.append((place, cells))
            continue
        if run:
            yield run
        run = [(place, cells)] if len(cells) >= MIN_COLUMNS else []
    if run:
        yield run


def _parse_cells(text: str) -> Cells:
    """Return the cells of a row said with its header; empty for other text.

    The column that names the rows may be unnamed.
    """
    first, *others = text.split("; ")
    pairs = [part.partition(": ") for part in ([first] if ": " in first or not others else [f": {first}"]) + others]
    return {name: value for name, _colon, value in pairs} if all(value for _name, _colon, value in pairs) else {}
