"""When something is, and from when to when."""

from agent.business.ask.english.blocks import END, MONTH, NUMBER, OUR, SPAN, UNIT, YEAR, Forms

TIMES: Forms = (
    (r"\bsince (?:the )?new year(?:'s(?: day)?)?\b", "this year"),
    # so long ago or longer
    (
        rf"\b(?:more than|over|at least|longer than) ({NUMBER}|an?) ({UNIT})s? ago\b",
        r"before today \1 \2 ago",
    ),
    # said first
    (
        (
            r"^((?:in|during|since|for|from) (?:(?!,| and | or ).)*?(?:\d|year|month|quarter|week|yesterday|today)"
            r"(?:(?!,| and | or ).)*), (?=(?:how|what|which|who|where|when|show|list|give)\b)(?!.*(?:\?.*\w"
            r"|,? and (?:what|how|who|which|when)\b))(.*?)\W*$"
        ),
        r"\2 \1",
    ),
    (rf"^({UNIT}) by \1 ([^,]*), (.*?)\W*$", r"\3 per \1 \2"),
    # from one to another
    (rf"\bfrom ({MONTH}(?: {YEAR})?) (?:through|till|until) ({MONTH})\b", r"from \1 to \2"),
    (
        (
            r"\bbetween (?:the )?(\d{1,2})(?:st|nd|rd|th)? and (?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)? "
            rf"({MONTH})( {YEAR})?\b"
        ),
        r"between \1 \3\4 and \2 \3\4",
    ),
    (r"\bfrom (.+?) (?:till|until|til|up to|up until|to) (?:now|today|date|the present)\b", r"since \1"),
    (rf"\b(?:from|since) the (?:beginning|start) of (?={YEAR})", "since "),
    (rf"\b(to|until|till|through|thru|-) (?:and including )?the (?:very )?end of (?={MONTH}|q[1-4]|{YEAR})", "to "),
    (r"\bup to and including\b", "to"),
    (
        (
            r"\b(?:for|in|over|during) the (?:period|time|timeframe|time frame) (?:from |between |of )?(?=\d"
            f"|{MONTH})"
        ),
        "from ",
    ),
    (rf"((?:{MONTH}|{YEAR}|\b\d{{1,2}})), (\d{{1,2}} {MONTH}(?: {YEAR})?){END}", r"\1 to \2"),
    # one time
    (f"[,;] (?:only |just )?({YEAR}) (?:orders|invoices|sales|figures)(?: only)?{END}", r" in \1"),
    (r"\b(orders|invoices) dated (?=(?:between|in|from|on|before|after|since)\b)", r"\1 "),
    (
        (
            "^when did we (?:get|receive|take|book|have|land|write|issue|send|ship) (?:our|the) (very )?(first|last|latest|earliest"
            rf"|most recent) (\w+){END}"
        ),
        r"when was the \2 \3",
    ),
    (f"^(?:the )?date of {OUR}very (?=first|last)", "date of the "),
    (
        rf"^(?:what (?:is|was) )?(?:the )?date of {OUR}(?=(?:latest|last|most recent|first|earliest|newest)\b)",
        "when was the ",
    ),
    (rf"\b(?:during|throughout) (?={YEAR}\b)", "in "),
    (
        (
            r"\b(?:over|during|within|throughout|through) (?:the course of )?(?:the )?(?:whole |entire "
            rf"|full )?(?:of )?(?={SPAN}\b)"
        ),
        "in ",
    ),
    (r"\b(?:over|during|in) the course of (?:the )?(?=\w)", "in "),
    (
        (
            rf"\b(?:in|for|during|of) the (?:calendar )?(?:month|year|quarter|week) (?:of )?(?=(?:{MONTH}|q[1-4]"
            rf"|{YEAR})\b)"
        ),
        "in ",
    ),
    (
        (
            r"\b(?:in )?(?:all of|the whole of|the entire|the whole|the full year|all through|back in) "
            rf"(?={YEAR}\b)"
        ),
        "in ",
    ),
    (rf"\b({YEAR}) (?:alone|as a whole|overall|in total)\b", r"\1"),
    (r"\blast calendar (year|month|quarter|week)\b", r"last \1"),
    (r"\bthe month just (?:gone|passed|ended)\b|\bthe past calendar month\b", "last month"),
    (r"^(?:on |at )?(?:what|which) (?:exact )?(?:date|day) (?=(?:was|were|did|is)\b)", "when "),
    # from one on
    (rf"\bstarting (?:from|in|with) (?=(?:{MONTH} )?{YEAR})", "since "),
    (rf"\b(?:from )?((?:{MONTH} )?{YEAR}) (?:on|onward|onwards)\b(?! the| average)", r"since \1"),
    (
        rf"\b((?:by|per|each|every) (?:day|week|month|quarter)\b.*) from (?=(?:{MONTH} )?{YEAR}\b(?! ?(?:to|through|un?till?|-)))",
        r"\1 since ",
    ),
    # to the end of the last, as every span is read
    (
        r"(?<=\d),? ?\(?(?:both (?:(?:days|dates|months|years|ends) )?)?(?:inclusive(?:ly)?|included)(?! of)\)?(?!\w)",
        "",
    ),
    # from one day of a month to another
    (
        rf"\b([1-3]?\d)(?:st|nd|rd|th)? ?(?:to|through|until|-) ?([1-3]?\d)(?:st|nd|rd|th)? (?:of )?({MONTH})\b",
        r"\1 \3 to \2 \3",
    ),
    (
        rf"\b({MONTH}) ([1-3]?\d)(?:st|nd|rd|th)? ?(?:to|through|until|-) ?([1-3]?\d)(?:st|nd|rd|th)?\b(?! ?(?:{MONTH}|\d|%))",
        r"\1 \2 to \1 \3",
    ),
    (rf"\bsince (?:the )?(?:beginning|start|first) of (?={MONTH}|{YEAR}|last |q[1-4])", "since "),
    # a quarter or month beside its year
    (
        (
            rf"\b(q[1-4]|h[12]|{MONTH}) (revenue|sales|turnover|orders) (?:of |in |for )?(this year|last year"
            f"|{YEAR})"
        ),
        r"\2 \1 \3",
    ),
    (
        (
            rf"^(q[1-4]|h[12]|{MONTH}) (revenue|sales|turnover)[:,] (?:this year) (?:against|vs\.?|versus|and"
            f"|compared (?:to|with)) last(?: year)?{END}"
        ),
        r"\2 \1 this year vs \1 last year",
    ),
)
