"""How a list is asked for, and its columns."""

from agent.business.ask.english.blocks import CAPITAL, END, ME, OUR, THEIR, WHICH, Forms

_LOW, _HIGH = (
    "(?:lowest|smallest|least|fewest|cheapest|shortest|oldest|earliest)",
    "(?:highest|largest|biggest|greatest|most|longest|newest|latest)",
)
_RESULTS = r"(?: (?:the |these |them|it|this )?(?:results?|rows|output|list|answers?|titles?|names?)?)?"

REQUESTS: Forms = (
    # in which order
    (
        rf"\b(?:sort|order|arrange)(?:ed|d)?{_RESULTS},? (?:in |by )?alphabetical(?:ly| order)\b",
        "in alphabetical order",
    ),
    (rf"[.;]\s*(?:please )?(?:sort|order|arrange){_RESULTS} by (?=\w)", ", sorted by "),
    (
        rf"[,.;]?\s*(?:and )?(?:sort|order|arrange)(?:ed|d)?{_RESULTS} from (?:the )?{_LOW} to (?:the )?{_HIGH} (\w+(?: \w+)?){END}",
        r", sorted by \1 ascending",
    ),
    (
        rf"[,.;]?\s*(?:and )?(?:sort|order|arrange)(?:ed|d)?{_RESULTS} from (?:the )?{_HIGH} to (?:the )?{_LOW} (\w+(?: \w+)?){END}",
        r", sorted by \1 descending",
    ),
    (rf",? (?:starting|beginning) (?:from|with) the {_LOW} (\w+(?: \w+)?){END}", r", sorted by \1 ascending"),
    (rf",? (?:starting|beginning) (?:from|with) the {_HIGH} (\w+(?: \w+)?){END}", r", sorted by \1 descending"),
    # whether there are any, and which
    (
        (
            r"^(?:(?:are|is|were) there|do we have) (?:any )?([^?]+)\?\s*(?:if so,? )?(?:which|who|name|list|show)"
            r"(?: ones| of them| are they| them| me)?\W*$"
        ),
        r"which \1",
    ),
    # the asking
    (
        (
            f"^(?:please )?(?:send|mail|email|forward|hand|prepare|provide){ME}(?: with)? (?=(?:the|all|a list"
            r"|every|an? |names)\b)"
        ),
        "list ",
    ),
    (r"^let (?:me|us) (?:have|see) (?=\w)", "list "),
    (r"^(?:i|we) would (?:like|love)(?: to (?:have|get|see|view))? (?=\w)", "show "),
    ("^((?:list|show|give me|show me)) every (?:single )?(?!month|quarter|year|week|day)", r"\1 all "),
    (rf"\b(?:of|from) every (?={CAPITAL})", "of all "),
    (
        (
            "^(?:i |we )?(?:just )?(?:need|want)(?: to (?:have|get|see))? (?=(?:the|all|a list|our|every|names"
            r"|customers|orders)\b)"
        ),
        "list ",
    ),
    (
        (
            r"^(?:for|of|among) (?!each\b|every\b|all\b|how\b|which\b|what\b|whom\b)"
            r"([^,]*?(?:orders?|invoices?|customers?|products?|projects?|employees?)\b[^,]*), "
            r"what (?:do|does|did) (?:the |their |its )?(\w+) (?:add up|come|amount|sum up) to(?: in total| altogether)?\W*$"
        ),
        r"total \2 of \1",
    ),
    (r"^([^,:?]+?)[,:] who (is the \w+)(?: of it| for it)?\W*$", r"who \2 of \1"),
    (r"^([^,:?]+?)[,:] who (\w+s)(?: him| her| it| them)\W*$", r"who \2 \1"),
    (
        (
            rf"^for (?:each|every) (?!(?:of|one)\b)([^,:]+): (?!.*\b(?:number|count|total|how|average|mean|sum|revenue|sales"
            r"|turnover|share|most|top|last|first|best)\b)"
            rf"(.+?){END}"
        ),
        r"\2 of all \1s",
    ),
    (rf"^((?:list|give me|show|show me)?{OUR} ?names?\b.*?) of (?:every|each) ", r"\1 of all "),
    # who has how many, and in which order
    (
        (
            r"\b((?:how many|number of) [^?.,]+? (?:did|does|do) (?:each|every) [^?.,]+?) (?:make|have|get|receive)\b"
            r"(?= *(?:[?.,]|$)| (?:in|on|during|last|this|per|with|over) )"
        ),
        r"\1",
    ),
    (
        r"\b((?:the|their) number of [^?.,]+?) (?:that )?(?:each of them|they each|they)(?: have| has)? [a-z]+(?=[?.,]|$)",
        r"\1",
    ),
    (rf",? in (descending|ascending) order (?:of|by) (?:the |their )?([^,.?]+?){END}", r", ordered by \2 \1"),
    (r"\b(?:is|are|was|were) used (?:in|by|for) (?=(?:more|less|fewer|at least|at most|exactly) )", "have "),
    # its columns
    (
        r"\b(contact)(?: person)?(?:'s)? (names?),? (and|&|with|plus) (?:their |the )?(?:job )?titles?\b",
        r"contact \2 \3 contact title",
    ),
    (r"\bcontacts? and contact titles?\b", "contact and contact title"),
    (rf"(?<=\w)(,? including {THEIR}\w+) (?:figure|number|amount|value)s?{END}", r"\1"),
    (
        (
            r"\bincluding (?:their|its|the) (?=(?:phone|e?mail|price|name|title|date|address|city|country|budget"
            r"|contact)s?\b)"
        ),
        "with ",
    ),
    (r",? with (?:his|her|their|its) (?=\w)", " with "),
    (
        (
            rf"^(?:the )?((?:phone|email|contact)[\w ]*?|addresses|cities) of (?:all )?(?:of )?{OUR}(.+?),? (?:with"
            f"|along with|together with|and|including) (?:their |the )?names?{END}"
        ),
        r"names and \1 of \2",
    ),
    (
        (
            "^(?:the )?names? and (.+?) of (?:the|our) ((?:youngest|oldest|newest|most expensive|cheapest|biggest"
            r"|largest|longest|shortest)\b.+)$"
        ),
        r"\2 with \1",
    ),
    (
        (
            f"^(.+? (?:customers|suppliers)) where {OUR}contact is (?:an? "
            rf"|the )?({CAPITAL}[\w ]+?): company and contact name{END}"
        ),
        r"company name and contact name of \1 whose contact title is \2",
    ),
    (
        (
            ",? (?:and |with )?(?:the )?(?:date|day) (?:when |that |on which )?(?:we|they|it|each|he"
            r"|she)\b[^,?]*$"
        ),
        ", when",
    ),
    (
        (
            f",? (?:and )?(?:in )?{WHICH} (city|country|office|region|state) (?:they|it|he|she|each)(?: each"
            r"| all)? (?:sits?|works?|lives?|are|is|belongs?|live)(?: in| to| from)?\b"
        ),
        r" and \1",
    ),
    (rf"^([^,]+), (names?) and (\w+){END}", r"\2 and \3 of \1"),
    # its order
    (r"^((?:list|show|give|get|which|what)\b.*) by (?:number|name|id)\W*$", r"\1"),
    # numbers of things that have no name
    (
        (
            rf"\b(?:the )?(?:order|invoice) (?:numbers|ids) of (?:all )?{OUR}(?=(?:[\w-]+ ){{0,2}}(?:orders"
            r"|invoices)\b)"
        ),
        "",
    ),
    (rf"^(.*\b(?:orders|invoices)\b.*)[:,] (?:order|invoice) (?:numbers|ids){END}", r"\1"),
)
