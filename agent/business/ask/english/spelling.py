"""Contractions, abbreviations and other spellings of one word."""

from agent.business.ask.english.blocks import CAPITAL, Forms

SPELLING: Forms = (
    (r"\bcan't\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\b(what|who|where|when|how|which|that|there|it|here)'s\b", r"\1 is"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"\b(i|we|you|they)'d\b", r"\1 would"),
    (r"\bi'm\b", "i am"),
    (r"\be-mail(s?)\b", r"email\1"),
    (r"\bincl\b\.?", "including"),
    (r"\bthru\b", "through"),
    (rf"(?<!turn )(?<!turned )\bover (?=in {CAPITAL})", ""),
    (r"\bw/o\b", "without"),
    (r"\bw/(?=\s|\w)", "with "),
    (r"\b(have|has|had) (we|you|they|i) got\b", r"do \2 have"),
    (r"\b(have|has|had) got\b(?! \w+ed\b)", r"\1"),
    (r"\s+[–—-]+\s+", ", "),
    (r"\b(?:his or her|his/her|their respective)\b", "their"),
    (r"\b(?:he or she|he/she)\b", "they"),
    (r"\btelephones?\b", "phone"),
)
