"""What came in: asked as money, as turnover, as what somebody brought."""

from agent.business.ask.english.blocks import CAPITAL, EARN_IN, EARN_US, OUR, THEN_A_TIME, Forms

EARNINGS: Forms = (
    (
        (
            r"(?<!average )(?<!avg )(?<!mean )(?<!highest )(?<!lowest )(?<!largest )\b(?:total )?value of "
            rf"{OUR}(?:all )?{OUR}(?=(?:[\w-]+ )?(?:orders|invoices|deals)\b)"
        ),
        "total amount of ",
    ),
    (r"^(?:please )?(?:sum|add) up (?:the |our |all )*", "total "),
    (r"^which (.+?) (?:brought in|made|earned|generated|took in) how much\b", r"revenue per \1"),
    (rf"\b(?:the )?(?:total|sum) of (?:all )?{OUR}(?=(?:[\w-]+ ){{0,2}}invoices\b)", "total amount of "),
    (r"^what quantity of (.+?) (?:went out|was sold|were sold|did we sell)\b", r"how many units of \1 were sold"),
    (
        r"^(?:what|how much) (?:was|has been|did we|have we) (?:invoiced?|billed?|bill)\b(?: in total)?(?! for\b)",
        "what was the total amount of invoices",
    ),
    (
        r"\b(?:what|how much) did (.+?) cost us(?: in total| altogether| overall)?(?=\W*$| (?:in|last|this|since|during)\b)",
        r"total \1",
    ),
    (r"^how much (\w+) (?:have|did) we (?:paid|pay|spen[dt]) (?:for|on) ", r"total \1 for "),
    (r"\btakings\b", "revenue"),
    (
        (
            "^(?:what|how much) (?:did|do|have|has|had) we (?:turn(?:ed)? over|take in|taken in|gross(?:ed)?|earn"
            "(?:ed)?|sell|sold|make|made|bring in|brought in)(?= (?:in|last|this|during|since|to|from|on|so"
            r"|between|by|per|each|yesterday|today|until|before|after|for)\b|\W*$)"
        ),
        "what was revenue",
    ),
    (
        (
            r"\bhow much (?:money |revenue |turnover )?(?:came|comes|has come|have come|was coming) in(?: through"
            f"| from| via| with)? (?={CAPITAL})"
        ),
        "what was the revenue of ",
    ),
    (
        rf"\bhow much (?:money |revenue |turnover )?(?:came|comes|has come|was coming) in{THEN_A_TIME}",
        "what was revenue",
    ),
    (
        (
            r"\bhow much (?:money |revenue |turnover )?(?:did|does|do|has|have) (?!we\b|you\b|it\b)((?:(?!\band\b"
            f"|,).)+?) (?:{EARN_IN}|{EARN_US}){THEN_A_TIME}"
        ),
        r"what was the revenue of \1",
    ),
    (
        (
            r"\bhow much (?:did|does|has|have) ((?:each|every|the) (?:category|genre|product|item|region|industry"
            f"|country|city|supplier|customer)) (?:earn|make|bring in|take|gross){THEN_A_TIME}"
        ),
        r"what was the revenue of \1",
    ),
    (
        (
            rf"\bwhat (?:did|does|has|have) (?!we\b|you\b|it\b)((?:(?!\band\b|,).)+?) (?:{EARN_IN}|{EARN_US}"
            f"|contribute to {OUR}(?:revenue|sales|turnover)){THEN_A_TIME}"
        ),
        r"what was the revenue of \1",
    ),
    (
        (
            r"\bwhat (?:did|do|have) we (?:make|made|earn|earned|take|taken|gross|collect|get) (?:with|on|off|from"
            f"|through) (?={CAPITAL})"
        ),
        "what was the revenue of ",
    ),
    (
        (
            r"\bhow much (?:money )?(?:have|did|has) we (?:lost?|lose|losing) (?:to|through|from|because of|due to"
            "|on|with|over) (?=cancel+ed)"
        ),
        "what is the total amount of ",
    ),
    (r"^(.+?) (?:amounted|amounts|came|added up|totalled) to how much\b", r"what was \1"),
    (
        f"^how much did (cancel+ed|paid|open|unpaid) (.+?) (?:come|amount|add up|sum up|run) to{THEN_A_TIME}",
        r"what is the total amount of \1 \2",
    ),
    (
        (
            r"^(?=.*\bhow much\b.*\b(?:sell|sold)\b)(.+?),? in (?:money|revenue|cash|monetary)(?: terms)?(?=\W*$"
            "| )"
        ),
        r"\1",
    ),
    (r"\bby value\b", "by amount"),
    (
        (
            r"\b(?:earns?|earned|makes?|made|brings?|brought)(?: in)? us (?:in )?the (most|least)"
            r"(?: money)?(?=\W*$| (?:in|last|this|since|during)\b)"
        ),
        r"has the \1 revenue",
    ),
    (r"\bcosts? us (?:the )?(most|least)(?: in)?\b", r"have the \1"),
    (r"\b(?:is|was) (?:due|attributable) to\b", "came from"),
    (r"\b(?:did|does|do) (.+?) (?:make up|represent|constitute)\b", r"did \1 account for"),
)
