"""The first, the last and the best of a kind."""

from agent.business.ask.english.blocks import END, NUMBER, OUR, Forms

RANKINGS: Forms = (
    # the first by a figure
    (rf"\b({NUMBER}) (\w+) (?:that|which) cost (?:us )?(?:the )?least\b", r"\1 cheapest \2"),
    (rf"\b({NUMBER}) (\w+) (?:that|which) cost (?:us )?(?:the )?most\b", r"\1 most expensive \2"),
    (
        f"^{OUR}(biggest|largest|smallest) (\\w+) by (budget|price|amount|value|revenue|sales|turnover){END}",
        r"which \2 has the \1 \3",
    ),
    (rf"\bwith the top (?!{NUMBER})(?=\w)", "with the highest "),
    # the one that spends or costs the most
    (
        (
            r"\b(?:biggest|top|highest|best) (?:buyer|spender)(?! of\b)(?: ?\((?:by|in) (?:amount|money|total|sum)"
            r"(?: spent)?\)| (?:by|in) (?:amount|money)(?: spent)?)?"
        ),
        "customer with the highest revenue",
    ),
    (rf"\btop ({NUMBER}) (?:spenders|buyers)\b", r"top \1 customers by revenue"),
    (
        r"\b(?:biggest|best|top) (customer|client)\b(?!s? (?:by|with|in terms|who|that|base)\b|.*\bby\b)",
        r"\1 with the highest revenue",
    ),
    # sold the most
    (
        (
            r"\b((?:best|worst|top)[- ]selling .+?) (?:in terms of|by|measured (?:in|by)) (?:units|quantity|copies"
            f"|pieces)(?: sold)?{END}"
        ),
        r"\1",
    ),
    (
        (
            f"^(?:list |show |give |what are |which are )?(?:me )?{OUR}(?:top )?({NUMBER}) (?:best|top|most)[- ]"
            r"(?:selling|sold) (\w+)(?:,? (?:with|along with|including|and) (?:their |the )?(?:units|quantity"
            r"|numbers?)(?: of units)?(?: sold)?|,? and how many (?:\w+ )?(?:each|they|each of them) (?:sold"
            "|sell))?"
        ),
        r"top \1 \2 by units sold",
    ),
    # so many of them
    (
        (
            "^rank (?:the |our |all )?(.+?) by (.+?) and (?:show|give|list)(?: me)?(?: only)? the (?:first|top) "
            f"({NUMBER}){END}"
        ),
        r"top \3 \1 by \2",
    ),
    (rf"^(\w+) (with the highest .+?|by .+?)[:,] top ({NUMBER}){END}", r"top \3 \1 \2"),
    # words for it
    (r"\bis represented by the (fewest|least|most)\b", r"has the \1"),
    (r"\b(?:fly|flew|flown) off the shel(?:f|ves)\b", "sold the most"),
    (r"\b(biggest|largest|highest|smallest|lowest|cheapest) single\b", r"\1"),
    (r"\bmost (long|old|young|new|cheap|short)\b", r"\1est"),
    (
        (
            r"\bsingle (?=(?:most|biggest|largest|highest|best|longest|greatest|smallest|cheapest|lowest|shortest"
            r"|latest)\b)"
        ),
        "",
    ),
)
