"""What every parser of pictures promises: a page that can be read, and a reason where it is none."""

from pathlib import Path

import pytest

from knowledge.parsers.base import ParseLimits, Rejected, UnreadableFile
from knowledge.parsers.blocks import ParsedDocument, Picture
from tests.contract.test_parsers import FORMATS, name_of, parse
from tests.scans import PICTURES


@pytest.mark.parametrize("name", PICTURES)
class TestEveryPicture:
    def test_is_a_page_without_text_that_can_be_read(self, name: str, tmp_path: Path) -> None:
        document = parse(PICTURES[name], name_of(name), tmp_path)
        assert (document.blocks, document.page_count) == ((), 1)
        assert document.pictures == (Picture(0, 1, is_bare=True),)
        assert ParsedDocument.from_json(document.to_json()) == document

    def test_is_refused_when_it_is_cut(self, name: str, tmp_path: Path) -> None:
        for share in (0.1, 0.5, 0.9):
            with pytest.raises(UnreadableFile):
                parse(PICTURES[name][: int(len(PICTURES[name]) * share)], name_of(name), tmp_path)

    def test_is_refused_by_the_size_of_what_it_unpacks_to(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(Rejected) as refused:
            parse(PICTURES[name], name_of(name), tmp_path, ParseLimits(pixels=1_000_000))
        assert refused.value.code == "too_many_pixels"

    def test_is_refused_under_another_name(self, name: str, tmp_path: Path) -> None:
        for other in sorted({*FORMATS, *PICTURES} - {name}):
            with pytest.raises(Rejected) as refused:
                parse(PICTURES[name], name_of(other), tmp_path)
            assert refused.value.code == "mismatch"
