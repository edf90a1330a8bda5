"""What is said around a question, and asks for nothing."""

from agent.business.ask.english.blocks import ME, Forms

COURTESIES: Forms = (
    (rf"^(?:please |kindly )?(?:state|report|indicate|specify|quote){ME} (?=the\b|how\b)", ""),
    # greetings
    (r"^\W*(?:excuse me|sorry|dear \w+|hi there|good (?:morning|afternoon|evening))\b[\s,:!.–-]*", ""),
    (
        (
            "^(?:would you be so (?:kind|good) as to|(?:i|we) would (?:be (?:very |really |so |most )?(?:grateful"
            "|glad|happy)|appreciate it) if you (?:could|would|can)|it would be (?:great|nice|helpful|good"
            "|lovely) (?:if you (?:could|would|can)|to)|(?:is it|would it be) possible to|be so (?:kind|good) "
            "(?:as )?to|i was (?:wondering|hoping) (?:if|that|whether)? ?you (?:could|would|can)|(?:could|may|can"
            "|might) i (?:get|have|see|ask|know)|(?:do you|would you) mind|(?:what|how) i (?:would like|want"
            "|need) to (?:know|see) is) (?:please )?"
        ),
        "",
    ),
    (r"^\W*(?:(?:hi|hello|hey|ok|okay|so|well|quick question|please|kindly)\b[\s,:!–-]*)+", ""),
    (r"^\W*(?:pls|plz)\b[\s,]*", ""),
    # whom it is asked of, and how kindly
    (
        (
            "^(?:(?:can|could|would|will) (?:you|we|i|someone|anyone) (?:please )?(?:quickly )?)(?=(?:tell|show"
            "|give|list|pull|get|find|see|look|provide|count|name|send|have|check|work|calculate|rank|compare"
            r"|break|sort)\b)"
        ),
        "",
    ),
    (
        (
            "^(?:i|we) (?:would|want|need|wish|am|are)(?: like| trying| looking)?(?: to)? (?:know|see|find out"
            r"|get|have|learn)\b:?"
        ),
        "",
    ),
    (r"^(?:i|we)(?: am| are)? (?:curious|wondering|interested)(?: about| in| to know)?\b[,:]?", ""),
    (r"^(?:do|would|can|could) you (?:happen to )?(?:know|remember|tell me|say)\b", ""),
    (
        (
            "^(?:please )?(?:tell|remind|give|show|let) (?:me|us)(?: know)? (?=(?:who|what|which|how|when"
            r"|where)\b)"
        ),
        "",
    ),
    (r"^(?:any idea|any chance you know|what about|how about|and)\b,?(?= )", ""),
    # behind it
    (r"[,.;–-]?\s*(?:please|pls|plz|thanks|thank you|thx|if possible|if you can|for me)\W*$", ""),
)
