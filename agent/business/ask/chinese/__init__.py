"""Chinese questions in the plainest wording that means the same. A file holds the forms of one meaning.

Only wordings that say nothing else are changed; what a form does not fit stays as it was written, and must then be read word for word.
`ORDER` is the one order of application: what is shown besides and said by the way goes first, so that the rest stands at the beginning
and the end of the text; then times, numbers and things as they are named elsewhere; last what turns a whole sentence round.
"""

import re
from collections.abc import Iterator

from agent.business.ask.chinese.absence import not_there
from agent.business.ask.chinese.amounts import summed
from agent.business.ask.chinese.averages import averaged
from agent.business.ask.chinese.besides import shown_besides
from agent.business.ask.chinese.comparisons import compared
from agent.business.ask.chinese.courtesies import courteous
from agent.business.ask.chinese.groups import grouped
from agent.business.ask.chinese.lists import listed
from agent.business.ask.chinese.names import titled
from agent.business.ask.chinese.numbers import numbered
from agent.business.ask.chinese.orders import ordered
from agent.business.ask.chinese.people import named_as_people
from agent.business.ask.chinese.rankings import ranked
from agent.business.ask.chinese.sayings import said_plainly
from agent.business.ask.chinese.superlatives import most
from agent.business.ask.chinese.times import timed
from agent.business.ask.words.numerals import in_digits

ORDER = (
    in_digits,
    shown_besides,
    courteous,
    said_plainly,
    timed,
    numbered,
    ordered,
    not_there,
    summed,
    averaged,
    most,
    grouped,
    named_as_people,
    titled,
    listed,
    ranked,
    compared,
)
_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”|「[^」]*」|《[^》]*》)")
_HAN = re.compile(r"[\u3400-\u9fff]")


def plain(text: str) -> str:
    """A question in plain wording; quoted names, and text without Chinese, as they are."""
    if not _HAN.search(text):
        return text
    return "".join(part if _QUOTED.fullmatch(part) else _plain(part) for part in _QUOTED.split(text))


def keywords(text: str) -> Iterator[str]:
    """“地区 客户数”: nothing but words with spaces between; grouped by one of those before the last."""
    words = text.strip(" ?。").split()
    if len(words) > 1 and all(_HAN.search(word) for word in words) and "各" not in text:
        for place in range(len(words) - 1):
            yield " ".join([*words[:place], f"各{words[place]}", *words[place + 1 :]])


def _plain(text: str) -> str:
    for reword in ORDER:
        text = reword(text)
    return text
