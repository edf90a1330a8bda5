"""Markdown by markdown-it, rendered and read as a page is: front matter, Hugo shortcodes, footnotes and definitions understood."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from knowledge.parsers import detect
from knowledge.parsers.base import ParseLimits, parsers
from knowledge.parsers.blocks import ParsedDocument, build_block, remove_link_marks
from knowledge.parsers.encoding import read_text
from knowledge.parsers.html.reader import HtmlReader
from knowledge.parsers.losses import filter_losses
from knowledge.parsers.precheck import parse_page_tree
from knowledge.text.normalise import clean_text

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_SHORTCODE = re.compile(r"\{\{[<%]\s*(/?)\s*([\w.-]+)([^{}]*?)/?\s*[%>]\}\}")
_SHOWN_ARGUMENT = re.compile(r'\b(?:text|name|title|caption|file|prepend|state|for_k8s_version)\s*=\s*"([^"]*)"')
_TERM = re.compile(r'\bterm_id\s*=\s*"([^"]*)"')
_HEADING_ID = re.compile(r"\s*\{#[^}]*\}\s*$")
_NO_TEXT = re.compile(r"<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
# Of a tag in a line, whose content Markdown takes for text and a page for something else.
_SILENT = re.compile(r"<(/?)(?:script|style|iframe|noembed|noframes|xmp|textarea|title)\b[^>]*>", re.IGNORECASE)
MAX_FIELDS = 100
MAX_FIELD_TEXT = 1_000  # characters


def _render_html(renderer: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    content = _NO_TEXT.sub(" ", tokens[place].content)
    return _SILENT.sub(r"<\1template>", content) if tokens[place].type == "html_inline" else content


def _render_footnote_start(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any
) -> str:
    return f'<aside role="doc-footnote" id="fn-{_encode_label(tokens[place])}">'


def _render_footnote_end(renderer: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    return "</aside>"


def _render_reference(renderer: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    token = tokens[place]
    return f'<sup><a href="#fn-{_encode_label(token)}">{token.meta["id"] + 1}</a></sup>'


def _encode_label(token: Token) -> str:
    return str(token.meta["label"]).encode().hex()


_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(deflist_plugin)
_READER.use(footnote_plugin, inline=False, move_to_end=False)
for _type, _rule in (("html_block", _render_html), ("html_inline", _render_html), ("footnote_ref", _render_reference),
                     ("footnote_reference_open", _render_footnote_start), ("footnote_reference_close", _render_footnote_end)):  # fmt: skip
    _READER.add_render_rule(_type, _rule)


class MarkdownParser:
    name = "markdown"
    mime_types = ("text/markdown",)
    extensions = (".md", ".markdown")
    preload = ("lxml.html", "yaml")  # yaml takes longer to import than a page to read

    def recognises(self, path: Path) -> bool:
        return detect.is_text(path)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        source, fields = _split_front_matter(read_text(path, limits))
        page = _READER.render(_SHORTCODE.sub(_render_shortcode, remove_link_marks(source)))
        reader = HtmlReader(parse_page_tree(page, limits))
        blocks = [
            replace(item, text=_HEADING_ID.sub("", item.text)) if item.kind == "heading" else item
            for item in reader.blocks
        ]
        language = fields.get("lang") or fields.get("language")
        found = ParsedDocument.of(blocks, language=language, fields=fields, losses=filter_losses(reader.losses))
        if not found.blocks:  # a section page that says its name and no more
            found = replace(found, blocks=tuple(build_block("heading", fields.get("title", ""), level=1)))
        title = fields.get("title") or next(
            (b.text for b in found.blocks if b.kind == "heading" and b.level == 1), None
        )
        return replace(found, title=title)


def _split_front_matter(source: str) -> tuple[str, dict[str, str]]:
    """Return a source without its front matter, and the latter's values; invalid front matter is ordinary text."""
    import yaml

    try:
        if front := _YAML.match(source):
            stated = yaml.load(front[1], getattr(yaml, "CBaseLoader", yaml.BaseLoader)) or {}  # noqa: S506 - makes texts, lists and mappings alone
        elif front := _TOML.match(source):
            stated = tomllib.loads(front[1])
        else:
            return source, {}
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return source, {}
    return (source[front.end() :], _flatten_values(stated)) if isinstance(stated, dict) else (source, {})


def _flatten_values(values: Mapping[str, Any]) -> dict[str, str]:
    """Return flat values as text, lists of them with commas between."""
    found: dict[str, str] = {}
    for name, value in values.items():
        parts = [item for item in (value if isinstance(value, list) else [value]) if not isinstance(item, list | dict)]
        text = ", ".join(filter(None, (" ".join(clean_text(_format_value(part)).split()) for part in parts)))
        if text and len(text) <= MAX_FIELD_TEXT and len(found) < MAX_FIELDS:
            found[clean_text(str(name)).strip()] = text
    return found


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _render_shortcode(shortcode: re.Match[str]) -> str:
    """Return the words a reader of the built page would see for a Hugo shortcode."""
    closing, name, arguments = shortcode.groups()
    if closing:
        return ""
    if name == "heading":
        return arguments.strip(' "')
    shown = _SHOWN_ARGUMENT.findall(arguments)
    if not shown and (term := _TERM.search(arguments)) and name == "glossary_tooltip":
        shown = [term[1].replace("-", " ")]
    return " ".join(shown)


parsers.add(MarkdownParser.name, MarkdownParser())
