"""Of which things: what they have, and how much of it."""

from agent.business.ask.english.blocks import CAPITAL, GOES_ON, NUMBER, SELL, THINGS, Forms

CONDITIONS: Forms = (
    # only these
    (r", (?!and |or )([a-z][\w -]* (?:customers|clients|suppliers|products|orders)) only\W*$", r" for \1"),
    (
        (
            rf"^((?!.*\b(?:bought|ordered|purchased|had?s?|have)\b).*), (?:only|just|solely) (?=for\b|{CAPITAL})"
            "(?:for )?"
        ),
        r"\1 for ",
    ),
    (",? (?:restricted|limited|confined) to (?:the )?", " for "),
    # words for more and less
    (r"\bwith an? total (?=(?:above|over|below|under|of (?:more|less|at))\b)", "with an amount "),
    (
        (
            r"\b(?:supplying|offering|delivering|providing|carrying) (?=(?:at least|more than|over|fewer than"
            rf"|less than|exactly|no|up to|{NUMBER})\b)"
        ),
        "with ",
    ),
    (rf"\b((?:at least|more than|fewer than|less than|exactly) {NUMBER}) of our (?=\w)", r"\1 "),
    (
        (
            r"\b(?:have |has |had )?(?:fallen|dropped|gone|dipped|fall|falls|drop|drops|go|lie|lies|sit|sits|stand"
            r"|stands|run|dip) (?=(?:below|under|above|over|beyond)\b)"
        ),
        "",
    ),
    (
        (
            r"\b(?:is|are|was|were)? ?(?:priced|valued|costing|going|selling|available) (?:at|for) (?=(?:more|less"
            r"|over|under|above|below|at)\b)"
        ),
        "costing ",
    ),
    (r"\b(?:more expensive|dearer|pricier) than\b", "costing more than"),
    (r"\bcheaper than\b", "costing less than"),
    (r"\bin excess of\b", "above"),
    (rf"\b(?:do|does) not even have ({NUMBER}|an?) ", r"have fewer than \1 "),
    (
        (
            rf"\b(?:that |which )(?:suppl(?:y|ies)|offers?|delivers?|provides?|carr(?:y|ies)) "
            rf"(?=(?:at least|more than|over|fewer than|less than|exactly|up to|{NUMBER})\b)"
        ),
        "with ",
    ),
    (rf"\b((?:at least|more than|fewer than|less than|exactly) {NUMBER}) (?:different|distinct|unique) ", r"\1 "),
    (
        rf"^who supplies us with (?=(?:at least|more than|over|fewer than|less than|exactly|up to|{NUMBER})\b)",
        "which suppliers have ",
    ),
    (rf"\b({NUMBER}) ((?!and\b|or\b)[a-z]+) or (more|fewer|less)\b", r"\1 or \3 \2"),
    # exactly so many
    (r"\b(?:only|just|exactly|precisely|merely) (?:a single|one single)\b", "exactly one"),
    (
        (
            r"\b(?:only|merely|precisely|just|no more and no less than) (?=(?:one|two|three|four|five|six|seven"
            r"|eight|nine|ten|\d+)\b)"
        ),
        "exactly ",
    ),
    # events
    (r"\b(?:ended|wound|ends?) up (?:being |as |getting )?(?=\w)", "were "),
    (r"\bkick(?:ed|s|ing)? off\b", "started"),
    (rf"\b{THINGS} (?:that )?(?:we|you) {SELL}\b", "product"),
    # parts of names
    (
        (
            r"\b(with|have|has|having|had|contain|contains|containing) (?:the )?(?:word |words |term )?(?!no\b|a\b"
            r"|an\b|any\b|more\b|the\b|their\b)([\w'-]+) (?:anywhere )?(?=in (?:the|their|its) (?:name|title)s?\b)"
        ),
        r'\1 "\2" ',
    ),
    (
        (
            r"\b(?:that |which |whose (?P<d>name|title)s? )?(?:starts?|starting|begins?|beginning) with "
            rf"(?:the letter |an? )?[\"']?(?P<x>{CAPITAL}[\w-]*)\b[\"']?"
        ),
        r'name startswith "\g<x>"',
    ),
    (
        (
            r"\b(?:that |which |whose (?:name|title)s? )?(?:starts?|starting|begins?|beginning) with "
            r"(?:the letter )?(?=\x00)"
        ),
        "name startswith ",
    ),
    (
        (
            rf"\b(written|composed) by ({CAPITAL}[\w.'-]+(?:{GOES_ON}[ /&]+(?:{CAPITAL}[\w.'-]*|de|da|van|von|of"
            f"|the))*{GOES_ON})"
        ),
        r'\1 by "\2"',
    ),
)
