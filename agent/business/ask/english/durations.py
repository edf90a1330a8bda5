"""How long something takes, runs or plays."""

from agent.business.ask.english.blocks import END, OUR, Forms

DURATIONS: Forms = (
    (
        (
            r"^how (?:long|many days|much time) does it (?:usually |typically |normally )?take(?: us)? to ship "
            r"(?:an |our |the )?orders?(?= on average)"
        ),
        "how long do orders take to ship",
    ),
    (
        (
            "^which (?:run|runs|last|lasts|are|is|play) longer(?: on average)?[,:]? (.+?)(?: (?:tracks"
            f"|songs))? or (.+?) (tracks|songs){END}"
        ),
        r"compare average length of \1 and \2 \3",
    ),
    (r"\bwhose (?:tracks|songs) (?:add|sum) up to (?=(?:more|less|over|under|at)\b)", "with a total length of "),
    (
        (
            "^if (?:i|we|you|one) (?:played?|listen(?:ed)? to) (?:every|all(?: the)?) (.+?) (?:song|track)s?(?: "
            f"(?:that )?we have)?, how (?:long|much time) would (?:that|it) take(?: in total| altogether)?{END}"
        ),
        r"total length of \1 songs",
    ),
    (
        (
            r"\bhow (?:long|much time) (?:does|did|do) (?:it|we|they|an? order|orders) (?:usually |typically "
            r"|normally )?(?:take|need)\b(?! to (?!ship\b))"
        ),
        "how many days",
    ),
    (
        r"^how long (?:is|was|are|were|does|do|did) (.+?)(?: (?:last|take|run|play))? on average\b",
        r"average length of \1",
    ),
    (rf"^how long (?:is|was|are|were) (?={OUR}(?:longest|shortest)\b)", "what is "),
    (
        (
            "^how long (?:is|was|are|were|does|do|did) (.+?)(?: (?:last|take|run|play"
            f"|go on))?(?: for)?(?: in total| altogether| overall)?{END}"
        ),
        r"total length of \1",
    ),
    (r"\b(?:longest|biggest|largest) (?:gap|delay|lag|wait|time)(?: span)? in days\b", "longest days"),
)
