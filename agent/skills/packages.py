"""A skill as uploaded: a zip with SKILL.md and files beside it, all untrusted. https://agentskills.io/specification"""

import io
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

import yaml
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.models.skills import DESCRIPTION_LENGTH, NAME_LENGTH
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.storage.regular_files import read_regular_file
from copilot_site.lib.storage.zip_files import ZipBounds, find_zip_fault
from copilot_site.lib.text.json_input import remove_forbidden_characters

MANIFEST = "SKILL.md"
GIVEN = "given"  # the folder beside it in which a script finds what it was given: no skill brings its own
ZIP_BYTES = 2 * 1024 * 1024
BOUNDS = ZipBounds(
    entries=200, unpacked_bytes=4 * 1024 * 1024, member_bytes=1024 * 1024, ratio=100, ratio_from_bytes=64 * 1024
)
_HEAD_BYTES, _MANIFEST_BYTES = 8_000, 100_000
_PATH_LENGTH, _DEPTH = 200, 6
_NAME_BYTES = 255  # of one part, as file systems have it
_PART = re.compile(r"[\w\-.+ ()\[\]&,@]+")  # of a path: letters of every language, and what is harmless in a name
_RUBBISH = re.compile(r"(^|/)(__MACOSX/|\.DS_Store$|Thumbs\.db$)")
_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)


class SkillManifest(BaseModel):
    """The fields we read from the head of SKILL.md.

    The rest is ignored; `allowed-tools` grants no tool here: profiles do.
    """

    model_config = ConfigDict(extra="ignore")

    name: str = Field(max_length=NAME_LENGTH, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    description: str = Field(min_length=1, max_length=DESCRIPTION_LENGTH)


@dataclass(frozen=True)
class Package:
    """A checked skill. files: by path, SKILL.md among them. archive: a new zip of them, identical for identical files."""

    name: str
    description: str
    instructions: str
    files: Mapping[str, bytes]

    @property
    def archive(self) -> bytes:
        packed = io.BytesIO()
        with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
            for path in sorted(self.files):
                archive.writestr(ZipInfo(path, _FIRST_DATE), self.files[path], ZIP_DEFLATED)
        return packed.getvalue()


def read_package(data: bytes) -> Package:
    """Read an uploaded zip. Raises InvalidInput, with a sentence for the uploader."""
    if len(data) > ZIP_BYTES:
        raise InvalidInput(
            _("The file is too large: a skill has at most %(most)s MB as a zip.") % {"most": ZIP_BYTES // 1024**2}
        )
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            files = _remove_top_folder(_unpack_archive(archive))
    except (
        BadZipFile,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        OSError,
        zlib.error,
        LZMAError,
    ) as error:
        raise InvalidInput(_("The file is not a readable zip.")) from error
    return build_package(files)


def build_package(files: Mapping[str, bytes]) -> Package:
    """Make a package of files by their paths. Raises InvalidInput."""
    text = files.get(MANIFEST)
    if text is None:
        raise InvalidInput(_("There is no SKILL.md at the top of the skill's folder."))
    for path in files:
        if GIVEN in PurePosixPath(path).parts[:1] or any(str(above) in files for above in PurePosixPath(path).parents):
            raise InvalidInput(_("The zip has a path that is refused: “%(path)s”.") % {"path": path})
    head, instructions = _split_head_and_body(text)
    try:
        manifest = SkillManifest.model_validate(head)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or MANIFEST
        raise InvalidInput(
            _("The head of SKILL.md does not fit: %(place)s: %(why)s.") % {"place": place, "why": first["msg"]}
        ) from error
    if not instructions.strip():
        raise InvalidInput(_("SKILL.md has nothing below its head."))
    return Package(manifest.name, " ".join(manifest.description.split()), instructions.strip(), dict(files))


def read_package_folder(folder: Path) -> Package:
    """Read a folder of this machine, without links that leave it. Raises InvalidInput."""
    top, left = folder.resolve(), BOUNDS.unpacked_bytes
    files: dict[str, bytes] = {}
    for path in sorted(top.rglob("*")):
        if path.is_dir():
            continue
        name = str(path.relative_to(top))
        try:
            files[name] = read_regular_file(path, top=top, most_bytes=min(left, BOUNDS.member_bytes))
        except OSError as error:
            raise InvalidInput(
                _("“%(file)s” cannot be read: %(why)s.") % {"file": name, "why": error.strerror}
            ) from error
        left -= len(files[name])
    return build_package(files)


def unpack_version_files(archive: bytes, digest: str) -> dict[str, bytes]:
    """Return the files of a stored version. Raises InvalidInput where they differ from the reviewed ones."""
    if sha256(archive).hexdigest() != digest:
        raise InvalidInput(_("The skill's files are not those that were reviewed."))
    with ZipFile(io.BytesIO(archive)) as packed:
        return {member.filename: packed.read(member) for member in packed.infolist()}


def _unpack_archive(archive: ZipFile) -> dict[str, bytes]:
    members = archive.infolist()
    if fault := find_zip_fault(members, BOUNDS):
        raise InvalidInput(_("The zip is refused: %(why)s.") % {"why": fault})
    files: dict[str, bytes] = {}
    for member in members:
        if member.is_dir() or _RUBBISH.search(member.filename):
            continue
        path = _check_path(member.filename)
        with archive.open(member) as file:
            content = file.read(BOUNDS.member_bytes + 1)
        if len(content) > BOUNDS.member_bytes:
            raise InvalidInput(_("The zip is refused: %(why)s.") % {"why": path})
        if path.casefold() in {known.casefold() for known in files}:
            raise InvalidInput(_("The zip has the path “%(path)s” twice.") % {"path": path})
        files[path] = content
    return files


def _check_path(path: str) -> str:
    """Check that a path is inside the skill's folder. Raises InvalidInput."""
    parts = PurePosixPath(path).parts
    is_plain = "/".join(parts) == path and len(path) <= _PATH_LENGTH and len(parts) <= _DEPTH
    is_plain = is_plain and all(len(part.encode()) <= _NAME_BYTES for part in parts)
    if not is_plain or any(part in {".", ".."} or not _PART.fullmatch(part) for part in parts):
        raise InvalidInput(_("The zip has a path that is refused: “%(path)s”.") % {"path": path[:_PATH_LENGTH]})
    return path


def _remove_top_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Remove the common top folder of all files, where there is one."""
    tops = {path.partition("/")[0] for path in files}
    if MANIFEST in files or len(tops) != 1 or not all("/" in path for path in files):
        return files
    return {path.partition("/")[2]: content for path, content in files.items()}


def _split_head_and_body(text: bytes) -> tuple[object, str]:
    """Split SKILL.md into its YAML head and the text below. Raises InvalidInput."""
    if len(text) > _MANIFEST_BYTES:
        raise InvalidInput(
            _("SKILL.md is too long: at most %(most)s kB; put the rest into files beside it.") % {"most": 100}
        )
    try:
        words = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(_("SKILL.md is not UTF-8.")) from error
    found = _HEAD.match(words)
    if found is None or len(found[1]) > _HEAD_BYTES:
        raise InvalidInput(_("SKILL.md must begin with a head between two lines “---”."))
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(found[1], Loader=yaml.SafeLoader)):
            raise InvalidInput(_("The head of SKILL.md has YAML aliases, which are not read."))
        return remove_forbidden_characters(yaml.safe_load(found[1])), remove_forbidden_characters(words[found.end() :])
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidInput(_("The head of SKILL.md is not valid YAML.")) from error


FOLDER = Path(__file__).resolve().parent / "shipped"


def list_shipped_skills() -> list[str]:
    return sorted(place.name for place in FOLDER.iterdir() if place.is_dir())


def read_shipped_package(name: str) -> Package:
    """Read a shipped skill. Raises NotFound for another name."""
    if name not in list_shipped_skills():
        raise NotFound(f"There is no skill of ours called {name[:80]!r}.")
    return read_package_folder(FOLDER / name)
