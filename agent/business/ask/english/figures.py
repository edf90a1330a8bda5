"""Two figures of one thing, and figures of two things."""

from agent.business.ask.english.blocks import END, NAME, OUR, YEAR, Forms

FIGURES: Forms = (
    # their number and their total
    (
        (
            r"^how many (\w+)((?: (?!and\b)[\w']+)*?),? and (?:what|how much) (?:was|were|is|are|did|do) (?:they"
            "|their|its|the)(?: combined| total| overall)?(?: amount| total| sum| value| worth)?(?: add up to"
            f"| sum up to| sum to| come to| amount to)?(?: in total| altogether| together)?{END}"
        ),
        r"number of \1 and total amount\2",
    ),
    (
        (
            rf"^(?:in|during|for) ({YEAR}|(?:last|this) (?:year|month|quarter)), how many (\w+)((?: "
            r"(?!and\b)[\w']+)*?),? and (?:what|how much) (?:was|were|is|are|did|do) (?:they|their|its|the)"
            "(?: combined| total| overall)?(?: amount| total| sum| value| worth)?(?: add up to| sum up to| sum to"
            f"| come to| amount to)?(?: in total| altogether| together)?{END}"
        ),
        r"number of \2 and total amount\3 in \1",
    ),
    (
        r"^(?:the )?(?:count|number) and (?:the )?total(?: amount)? of (?:the |our |all )?(\w+)",
        r"number of \1 and total amount",
    ),
    (r"^(?:the )?total and (?:the )?(?:count|number) of (?:the |our |all )?(\w+)", r"number of \1 and total amount"),
    (
        rf"^(\w+) ((?:in|for|of) [\w ]+?)[:,] (?:count|number) and (?:sum|total)(?: amount)?{END}",
        r"number of \1 and total amount \2",
    ),
    # of two things
    (
        rf"^how many ({NAME}[^,?]*?) (\w+),? and how many ({NAME}[^,?]*?) \2\b",
        r"number of \2 of \1 and \3 respectively",
    ),
    (
        (
            r"\bof an? (\w+) (order|invoice|project|product) (?:vs\.?|versus|against|compared (?:to|with)|and) "
            r"(?:that of )?an? (\w+) (?:one|\2)\b"
        ),
        r"of \1 vs \3 \2s",
    ),
    (
        (
            rf"^({NAME}[^,:]*? and {NAME}[^,:]*?)[:,] how many (\w+) (?:(?:has|have|does|do|did) )?each(?: have"
            f"| has| got)?{END}"
        ),
        r"number of \2 of \1 respectively",
    ),
    (
        rf"^how many (\w+) (?:do|does|did|have) (.+? and .+?) each (?:have|has|got|contain){END}",
        r"number of \1 of \2 respectively",
    ),
    (
        (
            r"^how many (\w+)( [^?,]*?)? (in|from|by|with|of|for) ([^,?]+?),? and how many(?: of them)?(?: are"
            rf"| were| have| do we have)?(?: based| located)? \3 ([^,?]+?){END}"
        ),
        r"how many \1\2 \3 \4 and \5 respectively",
    ),
    (
        rf"^((?:the )?number of .+ (in|from|by|of) .+? and) \2 (.+?),? (?:separately|each|individually){END}",
        r"\1 \3 respectively",
    ),
    (
        (
            r"^(?P<a>[\w' -]+?) (?:vs\.?|versus|and) (?P<b>[\w' -]+?)[:,] how many (?P<what>\w+) (?:of|were"
            r"|are) each\b"
        ),
        r"how many \g<what> \g<a> and \g<b> respectively",
    ),
    (
        rf"^(\w+) (by|of|in|from) (.+?) (?:against|versus|vs\.?|compared (?:to|with)) \1 \2 (.+?){END}",
        r"number of \1 \2 \3 and \4 respectively",
    ),
    # how many
    (rf"\bnumber of (different|distinct) (\w+) (?:listed|there are|on file){END}", r"number of \1 \2"),
    (
        r"\bhow (?:big|large) (?:is|was) (?:our|the) (customer|client|user|employee|supplier|product) base\b",
        r"how many \1s do we have",
    ),
    (rf"^(?:show|list|give me)?(?: me)? ?(\w+) by (\w+), how many each{END}", r"number of \1 by \2"),
    (r"^how many (.+?) (?:has|have) (each|every) (\w+) got\b", r"how many \1 does \2 \3 have"),
    (rf"^how (?:is|are|was|were) {OUR}(.+?) (?:looking|doing|going|performing|trending|holding up)\b", r"what is \1"),
    # what it comes to
    (r"\b(?:what|how much) did (.+?) (?:come|amount|add up|sum up|run) to\b", r"what was \1"),
    (r"\b(?:how (?:big|large|high|low|great) (?:is|are)) (?=(?:the|our|their|its|his|her)\b)", "what is "),
)
