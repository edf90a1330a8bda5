"""By how much something changed, and what share it is of another."""

from agent.business.ask.english.blocks import END, OUR, TIME, Forms

CHANGES: Forms = (
    # change
    (
        (
            f"^(?:and )?by (?:what|which|how much|how many) ?(?:percentage|percent|per cent|%)? did {OUR}(.+?) "
            r"(?:change|grow|rise|increase|go up|climb|drop|fall|decrease|decline|go down|shrink)\b"
        ),
        r"percentage change in \1",
    ),
    (rf"\bhow much did {OUR}(.+?) (?:go up|rise|climb|grow|increase)\b", r"percentage change in \1"),
    (
        (
            r"^(.*?),? ?(?:our )?\b(revenue|sales|turnover) (?:changed|grew|rose|fell|dropped|increased) by "
            r"(?:what|how many|which) (?:percentage|percent)\b(.*)$"
        ),
        r"percentage change in \2 \1\3",
    ),
    (r"^(?=.*\b(?:change|growth|grow|grew)\b)(.+?),? in (?:percent|%|percentage|percentage terms)(?=\W*$| )", r"\1"),
    (
        f"^(?:what is |what was )?the difference (?:in|of) {OUR}(.+?) between (.+?) and (.+?){END}",
        r"difference in \1 from \2 to \3",
    ),
    (
        rf"^(?=.*\b(?:change|changed|growth|grow|grew|difference|increase|increased|decrease)\b)(.*)\bbetween ({TIME}) and ({TIME})\b",
        r"\1from \2 to \3",
    ),
    # share
    (
        (
            "^(?:out of|of) (all .+?|the .+?),? (?:how many percent|what (?:percentage|share|proportion|fraction"
            r"|percent|part)) (?=(?:was|were|is|are|got|have|has)\b)"
        ),
        r"what percentage of \1 ",
    ),
)
