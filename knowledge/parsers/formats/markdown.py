"""Markdown by markdown-it: front matter, Hugo shortcodes and comments understood, tables, lists and code kept whole.

unstructured's reader was measured and left out: 30 times slower, front matter and shortcodes become text
(docs/adr/0007-parsers.md).
"""

import re
from dataclasses import replace
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from knowledge.parsers import detect
from knowledge.parsers.base import parsers
from knowledge.parsers.blocks import Block, ParsedDocument, block, with_pieces
from knowledge.parsers.encoding import read_text
from knowledge.parsers.hidden import Hidden
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.lines import join_lines
from knowledge.parsers.markdown_html import TAG, take_unseen_html
from knowledge.parsers.raised import lowered, raised, write_out, written_out
from knowledge.parsers.tables import html_rows, join_inline, pipe_table

_READER = MarkdownIt("commonmark").enable("table")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|lang|language):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_SHORTCODE = re.compile(r"\{\{[<%]\s*(/?)\s*([\w.-]+)([^{}]*?)/?\s*[%>]\}\}")
_SHOWN_ARGUMENT = re.compile(r'\b(?:text|name|title|caption|file|prepend|state|for_k8s_version)\s*=\s*"([^"]*)"')
_TERM = re.compile(r'\bterm_id\s*=\s*"([^"]*)"')
_PLACED = re.compile(r"<(/?)(sup|sub)\b", re.IGNORECASE)
_HEADING_ID = re.compile(r"\s*\{#[^}]*\}\s*$")


class MarkdownParser:
    name = "markdown"
    mime_types = ("text/markdown",)
    extensions = (".md", ".markdown")
    preload = ("lxml.html",)
    is_heavy = False

    def recognises(self, path: Path) -> bool:
        return detect.is_text(path)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        source = read_text(path, limits)
        fields: dict[str, str] = {}
        if front := _FRONT_MATTER.match(source):
            fields = {key: value.strip("\"'") for key, value in _FIELD.findall(front[1])}
            source = source[front.end() :]
        tokens = _READER.parse(_SHORTCODE.sub(_shown, Hidden.unmarked(source)))
        hidden = take_unseen_html(tokens, limits)
        blocks = with_pieces(_blocks(SyntaxTreeNode(tokens).children), hidden)
        found = ParsedDocument.of(blocks, language=fields.get("lang") or fields.get("language"))
        if not found.blocks:  # a section page that says its name and no more
            found = replace(found, blocks=tuple(block("heading", fields.get("title", ""), level=1)))
        title = fields.get("title") or next(
            (b.text for b in found.blocks if b.kind == "heading" and b.level == 1), None
        )
        return replace(found, title=title)


def _shown(shortcode: re.Match[str]) -> str:
    """The words a reader of the built page would see for a Hugo shortcode."""
    closing, name, arguments = shortcode.groups()
    if closing:
        return ""
    if name == "heading":
        return arguments.strip(' "')
    shown = _SHOWN_ARGUMENT.findall(arguments)
    if not shown and (term := _TERM.search(arguments)) and name == "glossary_tooltip":
        shown = [term[1].replace("-", " ")]
    return " ".join(shown)


def _blocks(nodes: list[SyntaxTreeNode]) -> list[Block]:
    blocks: list[Block] = []
    html: list[str] = []  # neighbouring pieces of one HTML table, which blank lines take apart
    for node in [*nodes, None]:
        if node is not None and node.type == "html_block":
            html.append(node.content)
            continue
        if html:
            blocks += _html_block("".join(html))
            html = []
        if node is not None:
            blocks += _block(node)
    return blocks


def _block(node: SyntaxTreeNode) -> list[Block]:
    match node.type:
        case "heading":
            found = block("heading", _HEADING_ID.sub("", _inline(node)), level=int(node.tag[1]))
        case "paragraph":
            found = block("paragraph", _inline(node))
        case "fence" | "code_block":
            found = block("code", _fenced(node)) if node.content.strip() else []
        case "bullet_list" | "ordered_list":
            found = block("list", _list(node))
        case "table":
            found = block("table", _table(node))
        case "blockquote":
            found = _blocks(node.children)
        case _:
            found = []
    return found


def _fenced(node: SyntaxTreeNode) -> str:
    fence = "```" if "```" not in node.content else "~~~~"
    language = node.info.split()[0] if node.info.strip() else ""
    return f"{fence}{language}\n{node.content.rstrip()}\n{fence}"


def _list(node: SyntaxTreeNode) -> str:
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
    items = []
    for number, item in enumerate(node.children, start=first):
        marker = f"{number}. " if node.type == "ordered_list" else "- "
        inside = _blocks(item.children)
        lines = "\n".join(inner.text for inner in inside).split("\n") if inside else []
        indent = " " * len(marker)
        items += ["\n".join((marker if i == 0 else indent) + line for i, line in enumerate(lines))] if lines else []
    return "\n".join(items)


def _table(node: SyntaxTreeNode) -> str:
    return pipe_table([[_inline(cell) for cell in row.children] for part in node.children for row in part.children])


def _inline(node: SyntaxTreeNode) -> str:
    """The words of a paragraph, heading or cell without marks: of a link its text, of an image its description."""
    parts: list[str] = []
    opened = 0  # where in the parts what a <sup> or <sub> holds begins
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        match child.type:
            case "text" | "code_inline":
                parts.append(child.content)
            case "softbreak":
                parts.append("\n")
            case "hardbreak":
                parts.append("\r")  # stays a line end, see below
            case "html_inline" if tag := _PLACED.match(child.content):
                if tag[1]:
                    written = (raised if tag[2].lower() == "sup" else lowered)("".join(parts[opened:]))
                    parts[opened:] = [written]
                opened = len(parts)
            case "html_inline":
                parts.append("\r" if child.content.lower().startswith("<br") else "")
            case _:
                stack += reversed(child.children)
    return "\n".join(join_lines(line.split("\n")) for line in "".join(parts).split("\r"))


def _html_block(source: str) -> list[Block]:
    if "<tr" not in source.lower():
        return block("paragraph", TAG.sub(" ", written_out(source)))
    from lxml import html

    root = html.fromstring(f"<div>{source if '<table' in source.lower() else f'<table>{source}</table>'}</div>")
    write_out(root)
    join_inline(root)
    return [found for table in root.iter("table") for found in block("table", pipe_table(html_rows(table)))]


parsers.add(MarkdownParser.name, MarkdownParser())
