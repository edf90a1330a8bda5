"""What is uploaded as a skill is believed in nothing."""

import io
import stat
from collections.abc import Callable
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from agent.skills.packages import build_package, read_package, unpack_version_files
from copilot_site.lib.errors import InvalidInput

GOOD = b"---\nname: a-skill\ndescription: Does something.\n---\n\nDo it.\n"


def packed(*members: tuple[str | ZipInfo, bytes]) -> bytes:
    data = io.BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return data.getvalue()


def broken(archive: bytes) -> bytes:
    """With its last member's packed bytes spoilt, and its table whole."""
    data = bytearray(archive)
    place = archive.rindex(b"PK\x03\x04") + 31
    data[place : place + 8] = b"\xff" * 8
    return bytes(data)


def linked() -> ZipInfo:
    member = ZipInfo("scripts/link.py")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


def test_a_folder_around_it_is_taken_off_and_the_same_files_are_the_same_archive() -> None:
    plain = read_package(packed(("SKILL.md", GOOD), ("scripts/a.py", b"1")))
    inside = read_package(packed(("a-skill/SKILL.md", GOOD), ("a-skill/scripts/a.py", b"1"), ("__MACOSX/x", b"")))
    assert plain.files == inside.files == {"SKILL.md": GOOD, "scripts/a.py": b"1"}
    assert plain.archive == inside.archive
    assert (plain.name, plain.description, plain.instructions) == ("a-skill", "Does something.", "Do it.")


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"no zip",
        lambda: packed(("README.md", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("../out", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("/etc/x", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("a\\..\\b", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("a//b", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("C:x", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("a\nb", b"x")),
        lambda: packed(("SKILL.md", GOOD), (linked(), b"/etc/passwd")),
        lambda: packed(("SKILL.md", GOOD), ("a", b"x"), ("A", b"y")),
        lambda: packed(("SKILL.md", GOOD), ("bomb", bytes(900_000))),
        lambda: packed(("SKILL.md", GOOD), ("large", bytes(2_000_000))),
        lambda: packed(("SKILL.md", GOOD), *((str(n), b"x") for n in range(300))),
        lambda: packed(("SKILL.md", GOOD), ("/".join("abcdefgh"), b"x")),
        lambda: packed(("SKILL.md", b"no head")),
        lambda: packed(("SKILL.md", b"---\nname: Not A Name\ndescription: x\n---\nDo.")),
        lambda: packed(("SKILL.md", b"---\nname: a\n---\nDo.")),
        lambda: packed(("SKILL.md", b"---\nname: a\ndescription: x\n---\n")),
        lambda: packed(("SKILL.md", b"---\nx: &x [a]\nname: a\ndescription: x\ny: *x\n---\nDo.")),
        lambda: packed(("SKILL.md", b"---\nname: !!python/name:os.system\ndescription: x\n---\nDo.")),
        lambda: packed(("SKILL.md", b"\xff\xfe")),
        lambda: broken(packed(("SKILL.md", GOOD), ("a", bytes(range(256)) * 20))),
        lambda: packed(("SKILL.md", GOOD), ("a", b"x"), ("a/b", b"y")),
        lambda: packed(("SKILL.md", GOOD), ("given", b"x")),
        lambda: packed(("SKILL.md", GOOD), ("given/evidence.json", b"[]")),
        lambda: packed(("SKILL.md", GOOD), ("字" * 90, b"x")),
    ],
)
def test_what_is_wrong_is_refused_with_a_sentence(make: Callable[[], bytes]) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_package(make())
    assert str(refused.value).endswith(".")


def test_what_no_database_keeps_is_left_out() -> None:
    """YAML may hold it escaped; it was an error of the server."""
    package = read_package(packed(("SKILL.md", b'---\nname: a\ndescription: "x\\0\\ud800y"\n---\nDo\0 it.')))
    assert (package.description, package.instructions) == ("xy", "Do it.")


def test_files_that_are_not_those_reviewed_are_not_used() -> None:
    with pytest.raises(InvalidInput):
        unpack_version_files(build_package({"SKILL.md": GOOD}).archive, "0" * 64)
