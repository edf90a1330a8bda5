"""What something is on average."""

from agent.business.ask.english.blocks import DEALS, Forms

AVERAGES: Forms = (
    (r"^(?:on average|typically),? (.*?)\W*$", r"\1 on average"),
    (r"^(how (?:long|much|many)\b.*?),? on average (to .*?)\W*$", r"\1 \2 on average"),
    (r"^(how much|how many|how long|what),? on average,? (.*?)\W*$", r"\1 \2 on average"),
    (r"^what (\w+) do(?:es)? (.+?) have on average\b", r"average \1 of \2"),
    (
        (
            r"\b(?:how much|what) (?:is|was|were|are) (?:an?|the|our) (?:average )?("
            r"(?:[\w-]+ )?(?:orders?|deals?|sales orders?|invoices?|purchases?)) worth((?: in| during| last"
            r"| this)? [\w ]*?)? on average\b"
        ),
        r"average worth of \1\2",
    ),
    (
        (
            r"\bhow (?:big|large|high|much) (?:is|was) (?:the|our|an) average ((?:[\w-]+ )?(?:order|deal|invoice"
            r"|purchase))\b"
        ),
        r"average worth of \1",
    ),
    (
        (
            rf"\bwhat did (?:an?|the|our) ({DEALS}) (?:amount to|come to|bring in|bring us|add up to|cost)"
            r"(.*?) on average\b"
        ),
        r"average worth of \1\2",
    ),
    (
        rf"\b(?:average|mean|avg) (?:size|worth|value|volume) (?:of|per) (?:an?|the|our|all)? ?({DEALS})\b",
        r"average worth of \1",
    ),
    (r"\baverage (\w+) count (?:of|per|for|on|in) (?:an?|each|every|the) (\w+)", r"average number of \1s per \2"),
    (r"\b(average|avg|mean) order size\b", "average order value"),
)
