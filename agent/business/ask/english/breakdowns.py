"""A figure for each of something."""

from agent.business.ask.english.blocks import UNIT, Forms

BREAKDOWNS: Forms = (
    # summed up for each
    (r"\b(\w[\w ]*?) (?:summed|added|totalled|totaled)(?: up)? (?:by|per)\b", r"total \1 by"),
    (r"\b(\w[\w ]*?) averaged (?:by|per|over)\b", r"average \1 by"),
    (r"\b(\w[\w ]*?) counted (?:by|per)\b", r"number of \1 by"),
    # for each time
    (
        (
            r"\bhow (?:did|does|do|has|have) (.+?) (?:develop|evolve|change|progress|look|move)(?:d|ed)? (?=(?:by"
            r"|per|each|every|from) (?:month|quarter|year|week|day)\b|month by month|quarter by quarter|monthly"
            "|quarterly|yearly|weekly|daily|over time)"
        ),
        r"\1 ",
    ),
    (rf"\b({UNIT}) by \1\b", r"per \1"),
    (r"\bon an? (daily|weekly|monthly|quarterly|yearly|annual) basis\b", r"\1"),
    # broken down
    (
        (
            r"\b(?:break|split|slice)(?: down| up| out)? (?!down|up|out|by)(.+?) (?:down |up |out )?(?:by|per|into"
            r"|across|over)\b"
        ),
        r"\1 by",
    ),
    (
        (
            r"\b(?:how|in what way) (?:is|are|was|were) (.+?) (?:spread|distributed|split|divided|broken down)"
            r"(?: out| up)? (?:over|across|among|amongst|between|by|per|into)(?: the| our| all)*\b"
        ),
        r"\1 by",
    ),
    (
        (
            r"\b(?:spread|distributed|split(?: up| out)?|divided(?: up)?|broken (?:out|up|down)|sliced|segmented"
            "|itemi[sz]ed|separated|grouped|organi[sz]ed) (?:over|across|among|amongst|between|by|per|into"
            r"|according to)(?: the| our| all)*\b"
        ),
        "by",
    ),
    (r"\b(?:separately|individually|one by one) (?:for|by) (?:each|every)\b", "for each"),
    (r"\b(?:for|in|of|by|from) each (?:and every|one of (?:the|our)|of (?:the|our)|individual|single)\b", "for each"),
    (r"\b(?:according to|depending on|as a function of|grouped on)\b", "by"),
    (r"\b(?!day|week|month|quarter|year)(\w{3,}) by \1\b", r"per \1"),
    # each
    (r"\bthe (?:individual|single|various|respective) (categories|countries|cities|industries)\b", r"each of the \1"),
    (r"\b(?!percentage|like|other)(\w+)-wise (\w+(?: count| sales)?)", r"\2 by \1"),
    (r"\bover all (?=products|customers|orders|items|categories)", "across all "),
)
