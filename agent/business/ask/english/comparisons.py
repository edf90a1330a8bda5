"""One thing or time against another."""

from agent.business.ask.english.blocks import END, MORE, NAME, TIME, WHICH, Forms

COMPARISONS: Forms = (
    # which of two has more
    (
        (
            f"^(?:does|do|did|has|have) ({NAME}[^,?]*?) or ({NAME}[^,?]*?) (?:have|has|got|sell|sold)(?: got)? "
            f"(?:more|fewer) ([a-z ]+?){END}"
        ),
        r"compare number of \3 of \1 and \2",
    ),
    (
        (
            "^(?:do|did|are|have) (?:we|there) ?(?:got |stock |have |carry |offer |sell |keep |hold )?(?:more"
            rf"|fewer) (.+?) (\w+) or (?:more |fewer )?(.+?) \2{END}"
        ),
        r"compare number of \2 of \1 and \3",
    ),
    (
        (
            rf"^(?:do|did|are|have) (?:we|there) ?(?:got |stock |have |carry |offer |sell |keep |hold )?(?:more|fewer) ({NAME}[^,?]*?) or "
            rf"(?:more |fewer )?({NAME}[^,?]*?) (\w+){END}"
        ),
        r"compare number of \3 of \1 and \2",
    ),
    (
        (
            r"^(?:do|did|are|have) (?:we|there) ?(?:got |have |stock |carry |offer )?more (\w+) (?:by|of|from|in) "
            f"(.+?) or (?:by |of |from |in )?(.+?){END}"
        ),
        r"compare number of \1 of \2 and \3",
    ),
    (
        rf"^which of the (?:two|both) (?:has|have|had|sells) (?:more|fewer) ([\w ]+?)[:,] (.+?) or (.+?){END}",
        r"compare number of \1 of \2 and \3",
    ),
    (
        rf"^(?P<a>[^,:?]+? and [^,:?]+?)[:,] whose (?P<x>[^,?]+?) (?:is|are|was|were) {MORE}\b",
        r"compare \g<x> of \g<a>",
    ),
    (
        (
            f"^{WHICH}(?: one)?(?: of (?:the two|these|them))? (?:sells?|sold) (?:better|more|best)(?: (?P<in>"
            r"(?:in|since) [\w ]+?))?[,:]? (?P<a>.+?) or (?P<b>.+?)\W*$"
        ),
        r"compare units sold of \g<a> and \g<b> \g<in>",
    ),
    (
        (
            r"^(?:which|what|who|where)(?: \w+)? (?:has|have|had|is there|are there|do we have) (?:more|fewer"
            r"|a higher|the higher|higher|less|a lower|lower) (?P<what>.+?)[,:] (?P<a>.+?) or (?P<b>.+?)\W*$"
        ),
        r"compare number of \g<what> of \g<a> and \g<b>",
    ),
    # put side by side
    (rf"^(?:put|set|place|hold|show) (.+? and .+?) (?:side by side|next to each other){END}", r"compare \1"),
    (r"^compare (?!order|invoice|phone)(\w+?)s? numbers (?=for|in|of|from)", r"compare \1 count "),
    ("^(?:put|set|place|hold) (.+?) (?:next to|against|beside|alongside) ", r"compare \1 with "),
    (
        (
            f"^compare (.+?) (in|for|of|during) ({TIME}) (?:with|to|against|and) (?:(?:those|that|the same"
            rf"|the ones|the figure|\1)(?: (?:in|for|of|from|during))? |(?:in|for|of|from) )?({TIME}){END}"
        ),
        r"\1 in \3 vs \4",
    ),
    (
        (
            r"\b(last|this) (month|quarter|week|year)(?: against| vs\.?| versus| compared (?:to|with)| and| than"
            r"| over) the (?:\2|one) before(?: (?:that|it|last))?\b"
        ),
        r"\1 \2 vs \2 before \1",
    ),
)
