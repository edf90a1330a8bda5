"""Checks locale/: every text of the source is there and translated, placeholders agree, compiled files are current.

Needs no gettext programs: Python sources are read as syntax trees, templates by Django's own templatize().
`python -m scripts.translations --compile` writes the .mo files.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
APPS = ("agent", "audit", "authz", "business", "copilot_site", "demo", "evals", "knowledge")
MARKERS = {
    "_",
    "gettext",
    "gettext_lazy",
    "gettext_noop",
    "ngettext",
    "ngettext_lazy",
    "ngettext_noop",
    "pgettext",
    "pgettext_lazy",
}
PLACEHOLDER = re.compile(r"%\([a-z_]+\)[sd]|%[sd]|\{[a-z_]*\}")
LITERAL = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
IN_TEMPLATE = re.compile(rf"""(?:(?<!p)n?gettext\(|pgettext\({LITERAL},\s*){LITERAL}""", re.DOTALL)
Text = tuple[str | None, str]  # its context, and what it says


def texts_of_python(path: Path) -> Iterator[Text]:
    """Literal texts marked for translation in a Python file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in MARKERS:
            arguments = [
                a.value if isinstance(a, ast.Constant) and isinstance(a.value, str) else None for a in node.args
            ]
            context, text = arguments[:2] if name.startswith("pgettext") else (None, arguments[0])
            if text is not None:
                yield context, text


def texts_of_template(path: Path) -> Iterator[Text]:
    """Literal texts marked for translation in a template."""
    for match in IN_TEMPLATE.finditer(templatize(path.read_text(encoding="utf-8"))):
        yield match[1] and ast.literal_eval(match[1]), ast.literal_eval(match[2])


def texts() -> dict[Text, str]:
    """Every text that is marked for translation, with a file where it stands."""
    found: dict[Text, str] = {}
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            found.update(dict.fromkeys(texts_of_python(path), str(path.relative_to(ROOT))))
    for path in (ROOT / "templates").rglob("*.*"):
        found.update(dict.fromkeys(texts_of_template(path), str(path.relative_to(ROOT))))
    return found


def wrong(catalogue: Path, sources: dict[Text, str]) -> Iterator[str]:
    """One sentence for each fault of a .po file."""
    entries = polib.pofile(str(catalogue))
    current: dict[Text, polib.POEntry] = {}
    for entry in entries:
        if not entry.obsolete and current.setdefault((entry.msgctxt, entry.msgid), entry) is not entry:
            yield f"twice: {entry.msgid!r}"
    for (context, text), source in sorted(sources.items(), key=lambda item: item[0][1]):
        if (context, text) not in current:
            yield f"missing: {text!r}{f' in the context {context!r}' if context else ''} ({source})"
    if any(entry.occurrences for entry in entries):
        yield "delete the lines `#:`: places change with every edit"
    for entry in current.values():
        if not entry.translated() or entry.fuzzy:
            yield f"not translated: {entry.msgid!r}"
        for text, translation in [
            (entry.msgid, entry.msgstr),
            *((entry.msgid_plural, s) for s in entry.msgstr_plural.values()),
        ]:
            if translation and sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(translation)):
                yield f"placeholders differ: {text!r} and {translation!r}"
    compiled = catalogue.with_suffix(".mo")
    if not compiled.exists() or compiled.read_bytes() != entries.to_binary():
        yield f"{compiled.name} is older than {catalogue.name}: run `python -m scripts.translations --compile`"


def main() -> None:
    """Exit code 1 with a list of faults."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
    django.setup()
    catalogues = sorted(ROOT.glob("locale/*/LC_MESSAGES/*.po"))
    if "--compile" in sys.argv:
        for catalogue in catalogues:
            polib.pofile(str(catalogue)).save_as_mofile(str(catalogue.with_suffix(".mo")))
        return
    sources = texts()
    ours: dict[str, dict[Text, str]] = {"django": sources}  # in the others stand texts of Django that we say otherwise
    faults = [
        f"{path.relative_to(ROOT)}: {fault}" for path in catalogues for fault in wrong(path, ours.get(path.stem, {}))
    ]
    if not catalogues:
        faults.append(f"locale/zh_Hans/LC_MESSAGES/django.po is missing; {len(sources)} texts wait for it")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
