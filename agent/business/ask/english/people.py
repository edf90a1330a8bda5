"""Employees, and what they did with the company."""

from agent.business.ask.english.blocks import (
    CAPITAL,
    COMPANY,
    END,
    MOST,
    NAME,
    NUMBER,
    OUR,
    PERSON,
    RUNS,
    THINGS,
    UNIT,
    Forms,
)

PEOPLE: Forms = (
    # who is meant
    (r"^headcount (?=hired\b)", "number of employees "),
    (rf"\b(?:everyone|everybody|people|those) on {OUR}(?:staff|payroll)\b", "employees"),
    (rf"\b(members?) of {OUR}staff\b", "staff"),
    (r"\b(?:staff|team) members?\b", "staff"),
    (r"\bperson on (?:the|our) staff\b", "employee"),
    (r"\b(?:most recent|latest|newest) hire(s?)\b", r"most recently hired employee\1"),
    (r"\b(?:number|count) of hires\b[,:]?", "number of employees hired"),
    (r"\b(?:new )?hires (?=from|in|since|between|last|this|during|before|after)", "employees hired "),
    (
        rf"\b{THINGS} (?:(?:that |who |whom )?we|who (?:was|were)|(?:was|were)|to be) (?=(?:hired|recruited)\b)",
        "employee ",
    ),
    (
        (
            r"(?<!excluding )(?<!except )(?<!without )\b(?:everyone|everybody|anyone|anybody|all those|the people"
            "|which people|all people|persons|folks)(?: who| that)?(?: was| were| got| has been| have been)? "
            r"(hired|joined|recruited|left)\b"
        ),
        r"employees \1",
    ),
    (
        r"^who (?:handled|processed|dealt with|took care of) the (most|fewest) orders\b",
        r"which employee had the \1 orders",
    ),
    # joined, hired, left
    (
        (
            r"\b(employees|people|colleagues|staff)(?: who| that)?(?: have| has)? (?:started|began|begun)"
            r"(?= (?:in|on|last|this|since|between|before|after|during)\b)"
        ),
        r"\1 joined",
    ),
    (rf"\b(joined|join|joins|entered) {COMPANY}(?! \w+ing)\b", "joined"),
    (rf"\b(?:started|began) (?:working |work )?(?:here|with us|for us|at {COMPANY}|for {COMPANY})\b", "joined"),
    (r"\b(?:came|come|got) on board\b", "joined"),
    (
        (
            f"^since when (?:has|is) ({CAPITAL}.+?) (?:been )?(?:with us|working (?:for|with) us|employed"
            f"|with {COMPANY}|here){END}"
        ),
        r"when was \1 hired",
    ),
    (
        (
            f"^when did ({CAPITAL}.+?) (?:join(?:ed)?(?: {COMPANY})?|(?:start|begin) (?:work(?:ing)?|here|with us)"
            f"(?: here| with us| for us)*){END}"
        ),
        r"when was \1 hired",
    ),
    (f"^when did we (?:hire|recruit|employ|take on) (.+?){END}", r"when was \1 hired"),
    (f"^(?:what is )?(?:the )?(hire|birth) date of (?:our )?({CAPITAL}.+?){END}", r"what is \2's \1 date"),
    (r"^(?:whom?|which (?:people|persons)) did we (?:hire|recruit|employ|take on)\b", "who was hired"),
    (r"\b(which \w+) did we (?:hire|recruit|take on)\b", r"\1 were hired"),
    (r"\bhired (?:the )?first\b", "hired earliest"),
    (rf"\bhired (?:the )?last\b(?! (?:{UNIT}|{NUMBER}|few))", "hired latest"),
    (r"\bleft (?:the (?:company|firm|business|organi[sz]ation)|us)\b", "left"),
    # the longest with us
    (
        rf"\bwith (?:more than|over|longer than) ({NUMBER}|an?) (months?|years?) (?:at|with|in) {COMPANY}\b",
        r"still employed hired before today \1 \2 ago",
    ),
    (
        (
            rf"\b(?:who |that )?(?:have |has |are |is )?(?:been )?(?:with|at|working for"
            rf"|working at|work(?:ed)? (?:here|for|at|with)) ?{COMPANY}? "
            rf"(?:for )?(?:more than|over|longer than) ({NUMBER}|an?) (months?|years?)\b"
        ),
        r"still employed hired before today \1 \2 ago",
    ),
    (
        (
            r"\b(?:has|have|is|are|was) (?:been )?(?:with|at|in|working for|working at|employed by) (?:us|the "
            r"(?:company|firm|business)|our company) (?:the )?longest\b"
        ),
        "still employed was hired earliest",
    ),
    (r"\blongest[ -](?:serving|standing|tenured)\b", "still employed earliest hired"),
    # who is in charge
    (r"\b(take|taking)(s?) care of\b", r"look\2 after"),
    (rf"^who supports (?={NAME})", "who looks after "),
    (r"\b(?:are|is) not (?:the )?owners? of (?=(?:an?|any)\b)", "do not own "),
    # who is in charge of the first of a kind
    (
        rf"^{PERSON} is (?:running|leading|managing|heading|in charge of|responsible for) (?:the project )?(?={NAME})",
        "who owns ",
    ),
    (rf"^whose project is (?={NAME})", "who owns "),
    (
        rf"^{PERSON} {RUNS} {OUR}(\w+) (?:with|that has|having|which has) the (?:single )?({MOST}) (\w+){END}",
        r"which \1 has the \2 \3, and who owns it",
    ),
    (rf"^{PERSON} {RUNS} {OUR}({MOST}) (\w+) by (\w+){END}", r"which \2 has the \1 \3, and who owns it"),
    (rf"^{PERSON} {RUNS} {OUR}({MOST})[- ](budget) (\w+){END}", r"which \3 has the \1 \2, and who owns it"),
    (
        rf"^(?:the )?(\w+) with the ({MOST}) (\w+)[:,] who (?:owns|runs|leads|manages) it{END}",
        r"which \1 has the \2 \3, and who owns it",
    ),
)
