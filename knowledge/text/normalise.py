"""Text of files, cleaned for people (`clean_text`), and normalised for searching and comparing (`normalise_text`)."""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

# Unicode's EquivalentUnifiedIdeograph for U+2E81…U+2EF2. Fonts of Chinese PDFs map common characters to these
# look-alikes (⻚ for 页); NFKC folds the Kangxi radicals (⼯ → 工) but only two of this block. "x" marks an unassigned
# code point or one whose equivalent lies outside the Basic Multilingual Plane: those stay as they are.
_RADICALS_FROM = 0x2E81
_RADICALS = (
    "厂乛乚乙亻冂几刀刂卜㔾小小兀尣尢x巳幺彑彐忄心扌攵x旡日月歺母民氵氺灬爫爫丬牛犭王疋目示礻竹糹纟罓罒㓁冗x羊x羋"
    "耂肀聿肉臼艹艹艹虎衤覀西见角x讠贝足车辶辶辶阝钅長镸长门x阝雨青"
    "韦页风飞食飠飠饣首马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀"
)
# Other ways to draw a character that say the same: Kangxi radicals, ligatures and joined letters of fonts.
_DRAWN = [*range(0x2F00, 0x2FE0), *range(0xFB00, 0xFB50), *range(0xFB50, 0xFDF0), *range(0xFE70, 0xFEFD)]
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# Removed: controls except tab and newline, lone surrogates, noncharacters.
_REMOVED = [
    *(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"),
    *range(0xD800, 0xE000),
    *(0xFFFE, 0xFFFF),
]
_TABLE: dict[int, int | str | None] = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in _DRAWN},
    **dict.fromkeys(map(ord, _SPACES), " "),
    **{_RADICALS_FROM + i: ord(char) for i, char in enumerate(_RADICALS) if char != "x"},
    **dict.fromkeys(_REMOVED),
}
# What has no shape of its own: Unicode's Default_Ignorable_Code_Point (zero-width spaces and joiners, direction marks and
# overrides, variation selectors, fillers, tags that spell ASCII), with the annotation marks and the blank Braille cell.
# It hides words from a search and commands from a reader. Three kinds shape the text beside them and stay there.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_JOINERS = "\u200c\u200d"
_JOINER = re.compile(f"[{_JOINERS}]")
_JOINED_SCRIPT = re.compile(
    "[\u0620-\u08ff\u0900-\u0dff\u0f40-\u109f\u1780-\u17d3\u1820-\u18aa]"
)  # Arabic to Mongolian
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_FIRST_SYMBOL = 0x2190
_NEWLINES = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# Full-width punctuation of Chinese prose: NFKC would make it ASCII, and quotations would not read like their source.
_OUTSIDE_PUNCTUATION = re.compile("[^，：；！？（）]+")


# NFKC writes 1½ as 11⁄2 and 10⁶ as 106: another number. The parts stay apart.
_FRACTION = re.compile("(?<=\\w)(?=[¼-¾⅐-⅞↉])")
_RAISED = re.compile("(?<=\\d)(?=[⁰¹²³⁴-⁾ⁱⁿ])")
_LOWERED = re.compile("(?<=\\d)(?=[₀-₎])")


def clean_text(text: str) -> str:
    """Return the text as people read it, in composed characters (NFC): nothing that it says is changed. Idempotent.

    Invisible and forbidden characters are removed, every line end is a newline, every space is a plain one, and radicals, ligatures
    and joined forms are the characters they draw. PostgreSQL and every encoder accept it: no NUL, no surrogate.
    """
    return _normalise_until_stable(text, partial(unicodedata.normalize, "NFC"))


def normalise_text(text: str) -> str:
    """Return the text as it is searched and compared, never shown: cleaned, and NFKC. Idempotent.

    Full-width punctuation (，：；！？（）) is kept; numbers stay the same ones: 1½ is 1 1/2, 10⁶ is 10^6.
    """
    return _normalise_until_stable(text, _apply_nfkc)


def _normalise_until_stable(text: str, form: Callable[[str], str]) -> str:
    if text.isascii() and text.isprintable():
        return text
    text = _NEWLINES.sub("\n", text).translate(_TABLE)
    if text.isascii():
        return text
    before = ""
    while text != before:
        before, text = text, form(_INVISIBLE.sub(_keep_joiners, text)).translate(_TABLE)
        if not _JOINER.search(text):
            break
    return text


def _apply_nfkc(text: str) -> str:
    """Apply NFKC outside punctuation. It puts marks in order, so that a joiner may get new neighbours."""
    text = _LOWERED.sub("_", _RAISED.sub("^", _FRACTION.sub(" ", text)))
    return _OUTSIDE_PUNCTUATION.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text).replace("⁄", "/")


def _keep_joiners(run: re.Match[str]) -> str:
    """Return, of invisible characters, those that shape their neighbours: joiners and variants of letters and emoji."""
    before, after = run.string[run.start() - 1 : run.start()], run.string[run.end() : run.end() + 1]
    if _JOINED_SCRIPT.match(before):
        is_variant = _MONGOLIAN.match(before) and run[0][0] in "\u180b\u180c\u180d\u180e\u180f"
        return run[0][0] if is_variant or (run[0][0] in _JOINERS and _JOINED_SCRIPT.match(after)) else ""
    if _is_symbol(before):
        variant = run[0][0] if run[0][0] in "\ufe0e\ufe0f" else ""
        return variant + ("\u200d" if "\u200d" in run[0] and _is_symbol(after) else "")
    return ""


def _is_symbol(char: str) -> bool:
    """Tell whether an emoji may begin with this character: a symbol that NFKC leaves unchanged."""
    return (
        char != ""
        and ord(char) >= _FIRST_SYMBOL
        and unicodedata.category(char) in ("So", "Sk", "Sm")
        and unicodedata.is_normalized("NFKC", char)
    )
