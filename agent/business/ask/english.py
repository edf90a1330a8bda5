"""English questions in one form: contractions spelled out, and what people say around a question as the plain words for it.

Patterns over the text, in order; quoted names are left as they are. Nothing is said here of what a layer holds.
"""

import re

from agent.business.ask.english_asks import ASK_FORMS
from agent.business.ask.english_numbers import in_digits
from agent.business.ask.english_talk import TALK_FORMS
from agent.business.ask.english_turns import TURN_FORMS

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|(?<![a-z])'[^']+'(?![a-z])", re.IGNORECASE)
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|"
    "dec(?:ember)?"
)
_GOES_ON = r"(?:(?<!\w\w[.'-])|(?<=\b(?:[jsdm]r|st|ms)\.))"  # a stop after a word ends the sentence: “by Kurt Cobain.”
_STOP_INSIDE = re.compile(  # “the album "Ten."”: the stop of the sentence, put inside the quotes
    r"(?P<stop>,|(?<=\w\w)(?<!\b[jsdm]r)(?<!\binc|\bltd)\.(?=.\W*$))(?P<quote>[\"”'])(?![\w])|(?P<han>[。,])(?P<close>[”」》])",
    re.IGNORECASE,
)
_UNIT = "day|week|month|quarter|year"
_SPAN = rf"(?:(?:the )?(?:past|last|previous|current|most recent|first|second|third|fourth)|this|{_MONTH}|q[1-4]|h[12])"
_AROUND = (
    # contractions
    (r"\bcan't\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\b(what|who|where|when|how|which|that|there|it|here)'s\b", r"\1 is"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"\b(i|we|you|they)'d\b", r"\1 would"),
    (r"\bi'm\b", "i am"),
    (r"\be-mail(s?)\b", r"email\1"),
    (r"^\W*(?:excuse me|sorry|dear \w+|hi there|good (?:morning|afternoon|evening))\b[\s,:!.–-]*", ""),
    ((r"^(?:would you be so (?:kind|good) as to|(?:i|we) would (?:be (?:very |really |so |most )?(?:grateful|glad|happy)"
     r"|appreciate it) if you (?:could|would|can)|"
     r"it would be (?:great|nice|helpful|good|lovely) (?:if you (?:could|would|can)|to)|(?:is it|would it be) possible to|"
     r"be so (?:kind|good) (?:as )?to|i was (?:wondering|hoping) (?:if|that|whether)? ?you (?:could|would|can)|(?:could|may|can"
     r"|might) i (?:get|have|see|ask|know)|"
     r"(?:do you|would you) mind|(?:what|how) i (?:would like|want|need) to (?:know|see) is) (?:please )?"), ""),
    # what is said before and after a question
    (r"^\W*(?:(?:hi|hello|hey|ok|okay|so|well|quick question|please|kindly)\b[\s,:!–-]*)+", ""),
    (
        (r"^(?:(?:can|could|would|will) (?:you|we|i|someone|anyone) (?:please )?(?:quickly )?)(?=(?:tell|show|give|list|pull|get|find|"
        r"see|look|provide|count|name|send|have|check|work|calculate|rank|compare|break|sort)\b)"),
        "",
    ),
    (r"^(?:i|we) (?:would|want|need|wish|am|are)(?: like| trying| looking)?(?: to)? (?:know|see|find out|get|have|learn)\b:?", ""),
    (r"^(?:i|we)(?: am| are)? (?:curious|wondering|interested)(?: about| in| to know)?\b[,:]?", ""),
    (r"^(?:do|would|can|could) you (?:happen to )?(?:know|remember|tell me|say)\b", ""),
    (r"^(?:please )?(?:tell|remind|give|show|let) (?:me|us)(?: know)? (?=(?:who|what|which|how|when|where)\b)", ""),
    (r"^(?:any idea|any chance you know|what about|how about|and)\b,?(?= )", ""),
    (r"[,.;–-]?\s*(?:please|pls|plz|thanks|thank you|thx|if possible|if you can|for me)\W*$", ""),
    (r"[,–-]?\s*\b(?:roughly|approximately|exactly how many is that|by the way|overall|all told|all in all)\s*\?*$", ""),
    ((r"\?\s*(?:please )?(?:show|give|list|name|tell)(?: me| us)? (?:both|them|both \w+|all of them|the numbers|both numbers|both "
     r"figures)\W*$"), ""),
    ((r"^(?:are|is|were) there (?:any )?([^?]+)\?\s*(?:if so,? )?(?:which|who|name|list|show)(?: ones| of them| are they| them| "
     r"me)?\W*$"), r"which \1"),
    ((r"^do we have (?:any )?([^?]+)\?\s*(?:if so,? )?(?:which|who|name|list|show)(?: ones| of them| are they| them| "
     r"me)?\W*$"), r"which \1"),
    (r",? (?:in units|in pieces|in numbers)\W*$", ""),
    ((r"^(?:what|how much) (?:did|do|have|has|had) we (?:turn(?:ed)? over|take in|taken in|gross(?:ed)?|earn(?:ed)?|sell|sold|make"
     r"|made|bring in|"
     r"brought in)(?= (?:in|last|this|during|since|to|from|on|so|between|by|per|each|yesterday|today|until|before|after|for)\b"
     r"|\W*$)"), "what was revenue"),
    (r"\b(\w[\w ]*?) (?:summed|added|totalled|totaled)(?: up)? (?:by|per)\b", r"total \1 by"),
    (r"\b(\w[\w ]*?) averaged (?:by|per|over)\b", r"average \1 by"),
    (r"\b(\w[\w ]*?) counted (?:by|per)\b", r"number of \1 by"),
)  # fmt: skip
_FORMS = (
    # times
    (r"\bsince (?:the )?(?:beginning|start|first) of (?=" + _MONTH + r"|(?:19|20)\d\d|last |q[1-4])", "since "),
    (r"\b(?:during|throughout) (?=(?:19|20)\d\d\b)", "in "),
    (rf"\b(?:over|during|within|throughout|through) (?:the course of )?(?:the )?(?:whole |entire |full )?(?:of )?(?={_SPAN}\b)", "in "),
    (r"\b(?:over|during|in) the course of (?:the )?(?=\w)", "in "),
    (rf"\b(?:in|for|during|of) the (?:calendar )?(?:month|year|quarter|week) (?:of )?(?=(?:{_MONTH}|q[1-4]|(?:19|20)\d\d)\b)", "in "),
    (r"\b(?:in )?(?:all of|the whole of|the entire|the whole|the full year|all through|back in) (?=(?:19|20)\d\d\b)", "in "),
    (r"\b((?:19|20)\d\d) (?:alone|as a whole|overall|in total)\b", r"\1"),
    (r"\blast calendar (year|month|quarter|week)\b", r"last \1"),
    (r"\bthe month just (?:gone|passed|ended)\b|\bthe past calendar month\b", "last month"),
    (rf"\b({_UNIT}) by \1\b", r"per \1"),
    (r"\bon an? (daily|weekly|monthly|quarterly|yearly|annual) basis\b", r"\1"),
    (rf"\bfrom ({_UNIT}) to \1\b", r"per \1"),
    (rf"\b(?:per|by|each|every) calendar ({_UNIT})\b", r"per \1"),
    # a breakdown
    (r"\b(?:break|split|slice)(?: down| up| out)? (?!down|up|out|by)(.+?) (?:down |up |out )?(?:by|per|into|across|over)\b", r"\1 by"),
    ((r"\b(?:how|in what way) (?:is|are|was|were) (.+?) (?:spread|distributed|split|divided|broken down)(?: out| up)? "
     r"(?:over|across|among|amongst|between|by|per|into)(?: the| our| all)*\b"), r"\1 by"),
    ((r"\bhow do(?:es)? (.+?) (?:break down|split|divide|spread)(?: up| out)? (?:by|per|across|over|into|among)(?: the| our| "
     r"all)*\b"), r"\1 by"),
    ((r"\b(?:spread|distributed|split(?: up| out)?|divided(?: up)?|broken (?:out|up|down)|sliced|segmented|itemi[sz]ed|separated|"
     r"grouped|organi[sz]ed) (?:over|across|among|amongst|between|by|per|into|according to)(?: the| our| all)*\b"), "by"),
    (r"\b(?:separately|individually|one by one) (?:for|by) (?:each|every)\b", "for each"),
    (r"\b(?:for|in|of|by|from) each (?:and every|one of (?:the|our)|of (?:the|our)|individual|single)\b", "for each"),
    (r"\b(?:according to|depending on|as a function of|grouped on)\b", "by"),
    (r"\bby value\b", "by amount"),
    # what something comes to
    (r"\b(?:what|how much) did (.+?) (?:come|amount|add up|sum up|run) to\b", r"what was \1"),
    (r"\b(?:what|how much) do(?:es)? (.+?) (?:come|amount|add up|sum up|run) to\b", r"what is \1"),
    (r"\b(?:how (?:big|large|high|low|great) (?:is|are)) (?=(?:the|our|their|its|his|her)\b)", "what is "),
    (r"\b(?:how (?:big|large|high|low|great) (?:was|were)) (?=(?:the|our|their|its|his|her)\b)", "what was "),
    (r"\bhow (?:well )?(?:did|has|have) (.+?) (?:do|done|perform(?:ed)?) in terms of\b", r"\1"),
    ((r"\bhow (?:long|much time) (?:does|did|do) (?:it|we|they|an? order|orders) (?:usually |typically |normally )?(?:take"
         r"|need)\b"), "how many days"),
    (r"\bhow (?:long|much time) (?:passe[sd]|lies|elapse[sd]|is it|is there|goes by|went by)(?= .*\b(?:between|from)\b)", "how many days"),
    (r"\b(average|mean|longest|shortest) (?:time|delay|gap|lag)(?: span)? (?=(?:between|from|to ship)\b)", r"\1 days "),
    (r"^how long (?:is|was|are|were|does|do|did) (.+?)(?: (?:last|take|run|play))? on average\b", r"average length of \1"),
    ((r"^how long (?:is|was|are|were|does|do|did) (?:the |our )?average (.+?)(?: (?:last|take|run|play))?(?=\W*$| "
     r"in\b)"), r"average length of \1"),
    (r"^how long (?:is|was|are|were) (?=(?:the |our )?(?:longest|shortest)\b)", "what is "),
    ((r"^how long (?:is|was|are|were|does|do|did) (.+?)(?: (?:last|take|run|play|go on))?(?: for)?(?: in total| altogether| "
     r"overall)?(?=\W*$)"),
     r"total length of \1"),
    ((r"\b(?:do|did|does|has|have) (.+?) (?:develop|evolve|change|progress|look|move)(?:d|ed)? (?=(?:by|per|each|every|from) "
     r"(?:month|quarter|year|"
     r"week|day)\b|month by month|monthly|quarterly|yearly|weekly|daily|over time)"), r" \1 "),
    (r"\bstrongest\b", "best"), (r"\bweakest\b", "worst"), (r"\bmost (long|old|young|new|cheap|short)\b",
     r"\1est"),
    ((r"\b(?:earns?|earned|makes?|made|brings?|brought)(?: in)? us (?:in )?the (most|least)(?: money)?(?=\W*$|"
     r" (?:in|last|this|since|during)\b)"), r"has the \1 revenue"),
    (r"\bkick(?:ed|s|ing)? off\b", "started"),
    (r"^when (?:was|were) (.+?) (last|first) (?:invoiced|billed)\b", r"when was the \2 invoice of \1"),
    (r"\bcosts? us (?:the )?(most|least)(?: in)?\b", r"have the \1"),
    (r"\b(?:has|have|with|had) nothing (?:left )?in stock\b", "with no stock"),
    (r"\b(?:has|have|with|had) nothing on order\b", "with no units on order"),
    (r"\bleft (?:the (?:company|firm|business|organi[sz]ation)|us)\b", "left"),
    (rf"\b(written|composed) by ((?-i:[A-Z])[\w.'-]+(?:{_GOES_ON}[ /&]+(?:(?-i:[A-Z])[\w.'-]*|de|da|van|von|of|the))*{_GOES_ON})",
     r'\1 by "\2"'),
    (r"\?\s*(?:i|we) (?:only |just )?need (?:the|their|its) (?:[a-z]+ )?names?\W*$", ""),
    (r"^((?:list|show|give|get|which|what)\b.*) by (?:number|name|id)\W*$", r"\1"),
    # stock
    ((r"\bwhat (?:is|are) (?:all )?(?:of )?(?:our|the|all our|all the) (?:whole |entire |total )?(?:stock|inventory)((?: of| in"
         r"| from) .+?)? worth\b"),
     r"what is the total stock value\1"),
    ((r"\bhow much is (?:all )?(?:of )?(?:our|the|all our|all the) (?:whole |entire |total )?(?:stock|inventory)((?: of| in|"
         r" from) .+?)? worth\b"),
     r"what is the total stock value\1"),
    (r"\bvalue of (?:all )?(?:of )?(?:our|the|all our|all the) (?:whole |entire |total )?(?:stock|inventory)\b", "stock value"),
    (r"\bstock worth\b", "stock value"),
    ((r"\b(?:that |which |who )?(?:with|still have|still has|have|has|having) (?:some |any )?(?:stock|inventory)"
      r"(?: left| remaining| on hand| available)?(?=\W*$| (?:are|is|do|does|in|from|and|but|there|by|per)\b)"), "in stock"),
    # comparisons
    ((r"\b(?:have |has |had )?(?:fallen|dropped|gone|dipped|fall|falls|drop|drops|go|lie|lies|sit|sits|stand|stands|run|dip) "
     r"(?=(?:below|under|"
     r"above|over|beyond)\b)"), ""),
    ((r"\b(?:is|are|was|were)? ?(?:priced|valued|costing|going|selling|available) (?:at|for) (?=(?:more|less|over|under|above"
     r"|below|at)\b)"),
     "costing "),
    (r"\bno more than one\b", "at most one"),
    (r"\bas (?:many|much) as\b", "up to"),
    (r"\bin excess of\b", "above"),
    # one alone, and none
    (r"\b(ordered|bought|purchased)((?: from us)?(?: \w+){0,2}?) once\b", r"\1\2 one times"),
    (r"\b(ordered|bought|purchased)((?: from us)?(?: \w+){0,2}?) twice\b", r"\1\2 two times"),
    (r"\b(?:ordered|bought|purchased)(?: from us| something| anything)? (?:only |just |exactly )?(one|two|three|four|five|\d+) times\b",
     r"have exactly \1 orders"),
    (r"^(?:what (?:is|was) )?(?:the )?date of (?:the |our )?(?=(?:latest|last|most recent|first|earliest|newest)\b)", "when was the "),
    (r"^since when (?:is|has|have|are) (.+?) (?:been )?(?:a|our) (?:customer|client)\b", r"when was \1 added"),
    (r"^when did (.+?) become (?:a|our) (?:customer|client)\b", r"when was \1 added"),
    (r"^do we have more (.+?) (in|from|with) (.+?) or (?:in |from |with )?(.+?)\W*$", r"compare number of \1 \2 \3 and \4"),
    (r"\b(?:more expensive|dearer|pricier) than\b", "costing more than"),
    (r"\bcheaper than\b", "costing less than"),
    (r"\bowning (?=an? |more|at|the|over|\d)", "with "),
    (r"\b(?:only|just|exactly|precisely|merely) (?:a single|one single)\b", "exactly one"),
    ((r"\b(?:only|merely|precisely|just|no more and no less than) (?=(?:one|two|three|four|five|six|seven|eight|nine|ten"
     r"|\d+)\b)"), "exactly "),
    (r"\bnot (?:a single|a|even one|one single|even a single|any) (?=\w)", "no "),
    (r"\b((?:do|does|did|has|have|had) not (?:yet )?(?:ever )?(?:\w+ )?)(?:a single|even one|even a single|any) (?=\w)", r"\1"),
    (r"\b(?:bought|ordered|purchased) nothing\b", "did not buy anything"),
    (r"\bsingle (?=(?:most|biggest|largest|highest|best|longest|greatest|smallest|cheapest|lowest|shortest|latest)\b)", ""),
    ((r"\b(?:ordered|bought|purchased)(?: from us| something| anything)? ((?:more|fewer|less) than|at least|at most|exactly|over) "
     r"(\w+) times\b"),
     r"have \1 \2 orders"),
    (r"\bordered (?:exactly )?once\b", "have exactly one order"),
    (r"\bordered (?:exactly )?twice\b", "have exactly two orders"),
    (r"\bordered more than once\b", "have more than one order"),
    (r"\b(?:how often|how many times) (?:did|has|have|do|does) (.+?) (?:order|ordered|place(?:d)? (?:an )?orders?)\b", (r"how many "
     r"orders did \1 place")),
    # how long someone is with the company
    ((r"\b(?:has|have|is|are|was) (?:been )?(?:with|at|in|working for|working at|employed by) (?:us|the (?:company|firm|business)"
     r"|our company) (?:the )?"
     r"longest\b"), "still employed was hired earliest"),
    (r"\blongest[ -](?:serving|standing|tenured)\b", "still employed earliest hired"),
    # which of two
    ((r"^(?:which|what)(?: one)?(?: of (?:the two|these|them))? (?:sells?|sold) (?:better|more|best)(?: (?P<in>(?:in|since) [\w "
     r"]+?))?[,:]? (?P<a>.+?) or "
     r"(?P<b>.+?)\W*$"), r"compare units sold of \g<a> and \g<b> \g<in>"),
    ((r"^(?:which|what|who|where)(?: \w+)? (?:has|have|had|is there|are there|do we have) (?:more|fewer|a higher|the higher|higher"
     r"|less|a lower|lower) "
     r"(?P<what>.+?)[,:] (?P<a>.+?) or (?P<b>.+?)\W*$"), r"compare number of \g<what> of \g<a> and \g<b>"),
)  # fmt: skip
_COMPILED = [
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (*_AROUND, *TURN_FORMS, *ASK_FORMS, *TALK_FORMS, *_FORMS)
]


def with_stops_outside(text: str) -> str:
    """A text in which no quoted name ends in the stop or the comma of the sentence around it."""
    return _STOP_INSIDE.sub(lambda found: f"{found['quote'] or found['close']}{found['stop'] or found['han']}", text)


def in_plain_words(text: str) -> str:
    """An English question without what only surrounds it; anything else unchanged."""
    if any("\u3400" <= character <= "\u9fff" for character in _QUOTED.sub("", text)) and not re.search(
        r"[a-z] [a-z]", text
    ):
        return text
    quoted = _QUOTED.findall(text)
    parts = in_digits(_QUOTED.sub("\x00", text))
    for pattern, form in _COMPILED:
        parts = pattern.sub(lambda found, form=form: found.expand(form), parts)  # type: ignore[misc]
    for one in quoted:
        parts = parts.replace("\x00", one, 1)
    return parts.strip()
