"""Files of every format that hold one sentence which people see and one which they do not, in every way that is known to us."""

from collections.abc import Iterator

from knowledge.parsers.hidden import HiddenReason as Why
from tests.hidden_in_office import decks, workbooks
from tests.hidden_in_pdf import invisible, pdf, pdfs
from tests.hidden_in_word import word, word_sources
from tests.hidden_samples import SEEN, UNSEEN, Sample

__all__ = ["SEEN", "UNSEEN", "Sample", "invisible", "pdf", "samples"]

# --- HTML and Markdown -----------------------------------------------------------------------------------------------

STYLES = {
    "display": ("display:none", Why.NOT_DISPLAYED),
    "visibility": ("visibility:hidden", Why.INVISIBLE),
    "opacity": ("opacity: 0.0", Why.INVISIBLE),
    "transparent": ("color:transparent", Why.INVISIBLE),
    "font_size": ("font-size:0", Why.TOO_SMALL),
    "font_1px": ("font:1px/1 serif", Why.TOO_SMALL),
    "white": ("color:#fff", Why.COLOUR),
    "near_white": ("color:rgb(250, 251, 252)", Why.COLOUR),
    "black_on_black": ("background:#000;color:#010101", Why.COLOUR),
    "off_page": ("position:absolute;left:-9999px", Why.OUTSIDE),
    "fixed": ("position:fixed;top:-200em", Why.OUTSIDE),
    "indent": ("text-indent:-9999px", Why.OUTSIDE),
    "no_height": ("height:0;overflow:hidden", Why.OUTSIDE),
    "clip": ("position:absolute;clip:rect(0,0,0,0)", Why.OUTSIDE),
    "clip_path": ("clip-path:inset(50%)", Why.OUTSIDE),
    "scale": ("transform:scale(0)", Why.OUTSIDE),
    "comment_inside": ("display:/**/none", Why.NOT_DISPLAYED),
    "invalid_after": ("display:none;display:foo", Why.NOT_DISPLAYED),
    "invalid_colour_after": ("color:#fff;color:foo", Why.COLOUR),
    "escape_in_name": ("dis\\70lay:none", Why.NOT_DISPLAYED),
    "semicolon_in_text": ("display:none;--x:';display:block;'", Why.NOT_DISPLAYED),
    "hsl": ("color:hsl(0 0% 100%)", Why.COLOUR),
    "hwb": ("color:hwb(0 100% 0%)", Why.COLOUR),
    "oklch": ("color:oklch(1 0 0)", Why.COLOUR),
    "colour_function": ("color:color(srgb 1 1 1)", Why.COLOUR),
    "canvas": ("color:canvas", Why.COLOUR),
    "nearly_transparent": ("color:rgba(0,0,0,.06)", Why.COLOUR),
    "faint": ("opacity:.06", Why.COLOUR),
    "text_fill": ("-webkit-text-fill-color:transparent", Why.INVISIBLE),
    "filter": ("filter:opacity(0)", Why.INVISIBLE),
    "formula": ("font-size:calc(2px - 2px)", Why.TOO_SMALL),
    "least_of": ("font-size:min(0px, 1em)", Why.TOO_SMALL),
    "exponent": ("font-size:1e-3px", Why.TOO_SMALL),
    "zoom": ("zoom:.01", Why.OUTSIDE),
    "scale_little": ("transform:scale(.001)", Why.OUTSIDE),
    "translate": ("translate:-9999px", Why.OUTSIDE),
    "inset": ("position:absolute;inset:0 auto auto -9999px", Why.OUTSIDE),
    "margin": ("margin:0 0 0 -9999px", Why.OUTSIDE),
    "no_height_scrolls": ("height:0;overflow:auto", Why.OUTSIDE),
    "no_line_height": ("line-height:0;overflow:hidden", Why.OUTSIDE),
    "clip_path_side": ("clip-path:inset(0 100% 0 0)", Why.OUTSIDE),
}
MARKUP = {
    "hidden": ("<p hidden>{}</p>", Why.NOT_DISPLAYED),
    "aria_hidden_as_well": ('<p aria-hidden="true" style="display:none">{}</p>', Why.NOT_DISPLAYED),
    "template": ("<template><p>{}</p></template>", Why.NOT_DISPLAYED),
    "noscript": ("<noscript><p>{}</p></noscript>", Why.NOT_DISPLAYED),
    "comment": ("<!-- {} -->", Why.COMMENT),
    "font_tag": ('<font color="white">{}</font>', Why.COLOUR),
    "popover": ("<div popover>{}</div>", Why.NOT_DISPLAYED),
    "fallback": ("<progress>{}</progress>", Why.NOT_DISPLAYED),
    "ruby": ("<ruby>a<rp>{}</rp><rt>b</rt></ruby>", Why.NOT_DISPLAYED),
    "drawing": ("<svg><title>{}</title></svg>", Why.NOT_DISPLAYED),
    "described": ('<p><img src="a.png" alt="{}"> A picture.</p>', Why.PICTURE),
    "faint_twice": ('<div style="opacity:.2"><p style="opacity:.2">{}</p></div>', Why.INVISIBLE),
    "cell": ('<table><tr><td>a</td><td style="display:none">{}</td></tr></table>', Why.NOT_DISPLAYED),
}
SHEETS = {
    "class": (".ghost { display: none !important }", '<p class="a ghost" style="display:block">{}</p>', Why.NOT_DISPLAYED),
    "id": ("#ghost{opacity:0}", '<p id="ghost">{}</p>', Why.INVISIBLE),
    "tag": ("@media screen { em { font-size: 0 } }", "<p><em>{}</em></p>", Why.TOO_SMALL),
    "nested": ("section > .d { background: #111 } .d p { color: #121 }", '<section><div class="d"><p>{}</p></div></section>', Why.COLOUR),
    "sibling": ("h1 + p + p { display: none }", "<p>{}</p>", Why.NOT_DISPLAYED),
    "later_sibling": ("h1 ~ div { display: none }", "<div>{}</div>", Why.NOT_DISPLAYED),
    "nth": ("p:nth-child(2n + 1):not(:hover) { display: none }", "<p>{}</p>", Why.NOT_DISPLAYED),
    "any_of": (":is(main, .q) { display: none }", "<div class=q>{}</div>", Why.NOT_DISPLAYED),
    "attribute": ("[class^=gh][data-x*='os'] { display: none }", "<p class=ghost data-x=host>{}</p>", Why.NOT_DISPLAYED),
    "escape": (".gh\\6fst { display: none }", "<p class=ghost>{}</p>", Why.NOT_DISPLAYED),
    "open_end": (".q { display: none", "<p class=q>{}</p>", Why.NOT_DISPLAYED),
    "rule_in_rule": (".w { color: red; &.q { display: none } }", "<p class='w q'>{}</p>", Why.NOT_DISPLAYED),
    "layer": (".q { display: none } @layer a { .q { display: block } }", "<p class=q>{}</p>", Why.NOT_DISPLAYED),
    "not_print": ("@media not print { .q { display: none } }", "<p class=q>{}</p>", Why.NOT_DISPLAYED),
    "range": ("@media (100px < width) and (hover: hover) { .q { display: none } }", "<p class=q>{}</p>", Why.NOT_DISPLAYED),
    "light": ("@media (prefers-color-scheme: light) { .q { display: none } }", "<p class=q>{}</p>", Why.NOT_DISPLAYED),
    "invalid_rule": (".q { display: none } .q { display: bar }", "<p class=q>{}</p>", Why.NOT_DISPLAYED),
    "back": (".a > .b .c { display: none }", "<div class=a><div class=b><div class=b><p class=c>{}</div></div></div>", Why.NOT_DISPLAYED),
    "language": ("p:lang(fr) { display: none }", "<p lang=fr>{}</p>", Why.NOT_DISPLAYED),
    "variable": (":root { --ink: white } p.x { color: var(--ink) }", '<p class="x">{}</p>', Why.COLOUR),
}  # fmt: skip


def _page(seen: str, inside: str, *, style: str = "") -> bytes:
    return f"<!doctype html><meta charset=utf-8><style>{style}</style><h1>Trips</h1><p>{seen}</p>{inside}<p>End.</p>".encode()


def _pages(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for kind, (style, why) in STYLES.items():
        inside = f'<div style="{style}"><p>{unseen}</p></div>'
        yield Sample(f"html_{kind}", language, "a.html", _page(seen, inside), why)
    for kind, (markup, why) in MARKUP.items():
        yield Sample(f"html_{kind}", language, "a.html", _page(seen, markup.replace("{}", unseen)), why)
    for kind, (style, markup, why) in SHEETS.items():
        yield Sample(f"html_{kind}", language, "a.html", _page(seen, markup.replace("{}", unseen), style=style), why)


def _markdown(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for kind, text, why in (
        ("span", f'{seen} <span style="display:none">{unseen}</span>', Why.NOT_DISPLAYED),
        ("div", f'{seen}\n\n<div style="font-size:0">\n\n*{unseen}*\n\n</div>', Why.TOO_SMALL),
        ("block", f'{seen}\n\n<p style="color:white">{unseen}</p>', Why.COLOUR),
        ("style", f"{seen}\n\n<style>.q {{ opacity: 0 }}</style>\n\n<p class=q>{unseen}</p>", Why.INVISIBLE),
        ("list", f"- {seen}\n- <b hidden>{unseen}</b>", Why.NOT_DISPLAYED),
        ("alt", f"{seen}\n\n![{unseen}](a.png)", Why.PICTURE),
        ("script", f"{seen} <script>{unseen}</script>", Why.NOT_DISPLAYED),
        ("comment_with_a_mark", f"- ```\n  a\n  ```\n\n{seen}\n\n<!-- > {unseen} -->", Why.COMMENT),
        ("comment", f"{seen}\n\n<!--\n{unseen}\n\nMore.\n-->", Why.COMMENT),
    ):
        yield Sample(f"md_{kind}", language, "a.md", f"# Trips\n\n{text}\n\nEnd.\n".encode(), why)


def samples(*languages: str) -> list[Sample]:
    """Every kind of every format in these languages, or in all."""
    formats = (_pages, _markdown, word, word_sources, workbooks, decks, pdfs)
    chosen = languages or tuple(SEEN)
    return [
        item for made in formats for language in chosen for item in made(language, SEEN[language], UNSEEN[language])
    ]
