"""The dictionary's index: made once, the same every time, and a sentence where it is not there."""

from pathlib import Path
from typing import Any

import pytest

from knowledge.dictionary import cedict
from knowledge.dictionary.cedict import DictionaryMissing, locate_index_file, prepare_dictionary
from knowledge.dictionary.words import compute_rarity, load_dictionary
from tests.dictionaries import prepared


def test_index_is_made_in_one_file(tmp_path: Path) -> None:
    file = prepare_dictionary(tmp_path / "models")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert ("annual", "leav") in load_dictionary(tmp_path / "models").renderings("年假")


def test_index_that_is_there_is_not_made_again(settings: Any) -> None:
    assert ("annual", "leav") in prepared().renderings("年假")
    models = settings.HOME.create().models
    written = locate_index_file(models).stat().st_mtime_ns
    assert prepare_dictionary(models) == locate_index_file(models)
    assert locate_index_file(models).stat().st_mtime_ns == written


def test_missing_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(DictionaryMissing, match=locate_index_file(tmp_path).name):
        load_dictionary(tmp_path)


def test_damaged_index_is_named(tmp_path: Path) -> None:
    locate_index_file(tmp_path).write_bytes(b"not an index")
    with pytest.raises(DictionaryMissing, match="damaged"):
        load_dictionary(tmp_path)


def test_package_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cedict, "PACKAGE", "no-such-package")
    with pytest.raises(DictionaryMissing, match="no-such-package"):
        prepare_dictionary(tmp_path)
    assert not list(tmp_path.iterdir())


def test_text_is_cut_into_words() -> None:
    for text, words in (
        ("中位数用了多少天", ["中位数", "用", "了", "多少", "天"]),
        ("签合同, KG-600 上半年", ["签", "合同", "上半年"]),
        ("no Chinese", []),
        ("", []),
    ):
        assert prepared().words(text) == words


def test_word_that_is_missing_is_taken_apart() -> None:
    assert prepared().renderings("年休假") == ()
    assert prepared().parts("年休假") == ("休假",)
    assert prepared().parts("年假") == ("年假",)


def test_renderings_leave_out_what_does_not_translate() -> None:
    said = {stem for rendering in prepared().renderings("个") for stem in rendering}
    assert not said & {"cl", "variant", "see"}


def test_rare_words_tell_more() -> None:
    assert compute_rarity("中位数") > compute_rarity("公司") > compute_rarity("的") >= 0
    assert compute_rarity("failov") > compute_rarity("price") > compute_rarity("the") >= 0
