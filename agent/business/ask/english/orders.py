"""Orders and invoices: placed, shipped, late, and how often."""

from agent.business.ask.english.blocks import BOUGHT, CAPITAL, END, NUMBER, Forms

ORDERS: Forms = (
    # placed
    (rf"^(?:the )?date of (.+?)'?s'? (first|last|latest|earliest|most recent) (\w+){END}", r"when was the \2 \3 of \1"),
    (
        (
            r"\b(orders?|deals?|invoices?|purchases?)\b((?: [\w,.]+){0,5}?) (?:booked|lodged|submitted|logged"
            "|entered|filed|raised) (?=(?:last|this|in|on|yesterday|today|during|since|between|before|after"
            r"|from)\b)"
        ),
        r"\1\2 placed ",
    ),
    (r"^when (?:was|were) (.+?) (last|first) (?:invoiced|billed)\b", r"when was the \2 invoice of \1"),
    (r"\boldest (?=\w+ date\b)", "earliest "),
    # shipped by somebody, and somewhere
    (
        (
            r"\b(?:shipped|sent|delivered|transported|carried|dispatched|moved) (?:via|through|using|over) "
            f"(?={CAPITAL})"
        ),
        "shipped with ",
    ),
    (
        (
            r"^(?=.*\b(?:share|percentage|proportion|percent|portion|fraction)\b)(.*?)\b(?:is |are |was "
            f"|were )?(?:shipped|sent|delivered|transported|handled|dispatched) by (?={CAPITAL})"
        ),
        r"\1shipped with ",
    ),
    (rf"\bwith destination (?={CAPITAL})", "with destination country "),
    (rf"\b(?:for|with|to|of) an? ({CAPITAL}\w+) destination\b", r"with destination country \1"),
    (
        (
            "^(?:the |which |what )?destination country (?:do )?(?:we |you )?ship to (?:the )?(least|most)"
            f"(?: often| frequently)?{END}"
        ),
        r"which destination country has the \1 orders",
    ),
    # late
    (r"\blate (orders|shipments)\W*\((shipped [^)]*)\)", r"number of orders \2"),
    (
        r"\b(?:shipped|sent|went out)(?: too)? late\b|\bshipped (?:later|after) than (?:was )?required\b",
        "shipped after the required date",
    ),
    (
        r"\b(?:were|are|was) late(?:,? i\.?e\.?,? shipped after the required date)?\b",
        "were shipped after the required date",
    ),
    (
        r"^(?:the |number of |how many )?late (orders|shipments|deliveries)\b",
        "number of orders shipped after the required date",
    ),
    (rf"^how many (\w+) did (?:each|every) (\w+) ship (after .+?){END}", r"number of \1 shipped \3 per \2"),
    (r"\bnot (?:been )?(shipped|delivered|sent) by (?=the \w+ date)", r"not \1 intime by "),
    # how often
    (r"\b(ordered|bought|purchased)((?: from us)?(?: \w+){0,2}?) once\b", r"\1\2 one times"),
    (
        (
            r"\b(?:ordered|bought|purchased)(?: from us| something| anything)? (?:only |just |exactly )?(one|two"
            r"|three|four|five|\d+) times\b"
        ),
        r"have exactly \1 orders",
    ),
    (
        (
            rf"\b(?:have |has )?(?:placed orders|{BOUGHT})(?: from us| something| anything| with us)? "
            rf"((?:more|fewer|less) than|at least|at most|exactly|over) ({NUMBER}) times\b"
        ),
        r"have \1 \2 orders",
    ),
    # discounts
    (r"\b(?:carried|carry|carries) (?:a|any|some) discount\b", "with discount above 0"),
)
