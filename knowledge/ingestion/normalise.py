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
# Removed: controls except tab and newline, lone surrogates, noncharacters, soft hyphen, zero-width space, word joiner,
# byte order mark, and the bidirectional overrides that make text read otherwise than it is stored.
_REMOVED = [
    *(code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"),
    *range(0xD800, 0xE000),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *(0xAD, 0x200B, 0x2060, 0xFEFF, 0xFFFE, 0xFFFF),
]
_TABLE: dict[int, int | None] = {
    **{_RADICALS_FROM + i: ord(char) for i, char in enumerate(_RADICALS) if char != "x"},
    **dict.fromkeys(_REMOVED),
}
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
    return _OUTSIDE_PUNCTUATION.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)
