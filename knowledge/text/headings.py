"""The number that a heading begins with: “2.1 ”, “第三章 ”, “四、”, and the marks of Markdown before it."""

import re

_NUMBER = re.compile(
    r"[#\s]*(?:第[一二三四五六七八九十百\d]+[章节条]\s*|第?[一二三四五六七八九十\d]+(?:\.\d+)*[.)）、]?\s+|[一二三四五六七八九十\d]+、)?"
)


def remove_heading_number(heading: str) -> str:
    """Return a heading without its leading number; later numbers stay."""
    return _NUMBER.sub("", heading, count=1).strip()
