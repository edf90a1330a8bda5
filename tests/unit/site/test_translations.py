"""The check of catalogues finds what a person would: a text without a translation, and one that lost its number."""

from pathlib import Path

import polib
import pytest

from scripts.translations import Text, texts_of_python, texts_of_template, wrong


def faults(tmp_path: Path, entry: polib.POEntry, *sources: Text) -> list[str]:
    catalogue = polib.POFile()
    catalogue.append(entry)
    path = tmp_path / "django.po"
    catalogue.save(str(path))
    polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
    return list(wrong(path, dict.fromkeys(sources, "page.html")))


RATINGS = {"msgid": "One rating", "msgid_plural": "%(n)s ratings"}


@pytest.mark.parametrize(
    ("said", "found"), [("%(n)s 条评价", []), ("一条评价", ["placeholders differ: '%(n)s ratings' and '一条评价'"])]
)
def test_a_plural_keeps_its_number(tmp_path: Path, said: str, found: list[str]) -> None:
    """Chinese has one form for all numbers: without the number it says “one” of every many."""
    assert faults(tmp_path, polib.POEntry(**RATINGS, msgstr_plural={0: said})) == found


def test_a_text_of_another_context_is_no_translation(tmp_path: Path) -> None:
    entry = polib.POEntry(msgctxt="of an organisation", msgid="unit", msgstr="部门")
    assert faults(tmp_path, entry, ("of an organisation", "unit")) == []
    assert faults(tmp_path, entry, (None, "unit")) == ["missing: 'unit' (page.html)"]


def test_a_text_stands_once(tmp_path: Path) -> None:
    """Of two entries the last wins, wherever it was meant for."""
    path = tmp_path / "django.po"
    path.write_text('msgid "Off"\nmsgstr "停用"\n\nmsgid "Off"\nmsgstr "已停用"\n')
    polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
    assert list(wrong(path, {})) == ["twice: 'Off'"]


def test_places_of_texts_are_not_kept(tmp_path: Path) -> None:
    entry = polib.POEntry(msgid="Off", msgstr="停用", occurrences=[("a.py", "1")])
    assert faults(tmp_path, entry) == ["delete the lines `#:`: places change with every edit"]


def test_texts_are_found_with_their_context(tmp_path: Path) -> None:
    code, page = tmp_path / "a.py", tmp_path / "a.html"
    code.write_text('a = pgettext("of a thing", "unit"), _("one"), ngettext("day", "days", 2), _(name)\n')
    page.write_text(
        '{% load i18n %}{% translate "unit" context "of a thing" %}{% translate "one" %}'
        "{% blocktranslate count n=n %}day{% plural %}days{% endblocktranslate %}"
    )
    found = {("of a thing", "unit"), (None, "one"), (None, "day")}
    assert set(texts_of_python(code)) == found
    assert set(texts_of_template(page)) == found
