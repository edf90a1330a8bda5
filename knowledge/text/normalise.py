"""One spelling of every character, at ingest and on queries, so that what looks alike is found alike."""

import re
import unicodedata

# Unicode's EquivalentUnifiedIdeograph for U+2E81…U+2EF2. Fonts of Chinese PDFs map common characters to these
# look-alikes (⻚ for 页); NFKC folds the Kangxi radicals (⼯ → 工) but only two of this block. "x" marks an unassigned
# code point or one whose equivalent lies outside the Basic Multilingual Plane: those stay as they are.
_RADICALS_FROM = 0x2E81
_RADICALS = (
    "厂乛乚乙亻冂几刀刂卜㔾小小兀尣尢x巳幺彑彐忄心扌攵x旡日月歺母民氵氺灬爫爫丬牛犭王疋目示礻竹糹纟罓罒㓁冗x羊x羋"
    "耂肀聿肉臼艹艹艹虎衤覀西见角x讠贝足车辶辶辶阝钅長镸长门x阝雨青"
    "韦页风飞食飠飠饣首马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀"
)
# Removed: controls except tab and newline, lone surrogates, noncharacters.
_REMOVED = [
    *(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"),
    *range(0xD800, 0xE000),
    *(0xFFFE, 0xFFFF),
]
_TABLE: dict[int, int | None] = {
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


def normalise(text: str) -> str:
    """NFKC and CJK radicals folded, invisible and forbidden characters removed, every line end a newline. Idempotent.

    Full-width punctuation (，：；！？（）) is kept. PostgreSQL and every encoder accept it: no NUL, no surrogate.
    """
    text = _NEWLINES.sub("\n", text).translate(_TABLE)
    if text.isascii():
        return text
    before = ""
    while text != before:
        before, text = text, _folded(_INVISIBLE.sub(_kept, text))
        if not _JOINER.search(text):
            break
    return text


def _folded(text: str) -> str:
    """NFKC outside punctuation. It puts marks in order, so that something else may stand beside a joiner afterwards."""
    return _OUTSIDE_PUNCTUATION.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)


def _kept(run: re.Match[str]) -> str:
    """Of a run of invisible characters those that shape what stands beside them: joiners and variants of letters and emoji."""
    before, after = run.string[run.start() - 1 : run.start()], run.string[run.end() : run.end() + 1]
    if _JOINED_SCRIPT.match(before):
        is_variant = _MONGOLIAN.match(before) and run[0][0] in "\u180b\u180c\u180d\u180e\u180f"
        return run[0][0] if is_variant or (run[0][0] in _JOINERS and _JOINED_SCRIPT.match(after)) else ""
    if _is_symbol(before):
        variant = run[0][0] if run[0][0] in "\ufe0e\ufe0f" else ""
        return variant + ("\u200d" if "\u200d" in run[0] and _is_symbol(after) else "")
    return ""


def _is_symbol(char: str) -> bool:
    """Whether an emoji may begin with it: a symbol that NFKC leaves alone."""
    return (
        char != ""
        and ord(char) >= _FIRST_SYMBOL
        and unicodedata.category(char) in ("So", "Sk", "Sm")
        and unicodedata.is_normalized("NFKC", char)
    )
