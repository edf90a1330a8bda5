"""How people type a question to a colleague in English: what is said by the way, and idioms for what plain words say.

Patterns over the text, in order, before those of `english`. Nothing is said here of what a layer holds.
"""

_THINGS = r"(?:people|person|ones?|things?)"
_WAYS = r"(?:higher|greater|bigger|larger|better|more|stronger)"
_SELL = r"(?:sell|sold|offer|carry|stock|have|list)"
TALK_FORMS: tuple[tuple[str, str], ...] = (
    (r"\bthru\b", "through"),
    (r"\s+[–—-]+\s+", ", "),
    (r"^(?:i |we )?(?:just )?(?:need|want)(?: to (?:have|get|see))? (?=(?:the|all|a list|our|every|names|customers|orders)\b)", "list "),
    (r"^any (?=\w[^?]*\??\W*$)", "are there any "),
    # what is said by the way
    (r"[,;:]\s*(?:please )?(?:list|name|show|give)(?: me| us)? (?:them|those|these)(?: all)?(?=\W*$)", ""),
    (r"[,;:]\s*(?:which|who|what) (?:are|were) (?:they|those|these)(?=\W*$)", ""),
    (r"[,;:]\s*(?:side by side|next to each other|at a glance|just the (?:count|number|total)s?|numbers only|one line each)(?=\W*$)", ""),
    ((r"\s+(?:and |with |plus )?(?:the |their |its )?(?:totals|totals for each|respective totals|total for each|amounts for"
         r" each)(?=\W*$)"), ""),
    (r"\b(?:units|stock|inventory) on hand\b", "stock"), (r"\bon[- ]hand (?:stock|inventory|units)\b", "stock"),
    (r"\b(?:go|goes|went|gone|going) out (?:of )?the door\b", "were sold"),
    (r"\b(?:fly|flew|flown) off the shel(?:f|ves)\b", "sold the most"),
    ((r"\bnot (?:counting|including|considering)\b|\b(?:leave|leaving|left) out\b|\b(?:ignore|ignoring|disregarding|minus"
         r"|skipping)\b"), "excluding"),
    ((r"\bexcluding (?:the |all )?(cancel+ed|paid|open|unpaid|closed|finished|paused|retired|discontinued) (?:ones|orders)"
         r"(?=\W*$|,)"), r"excluding \1"),
    (r"\bhow many (?:units|pieces|bottles|boxes|items) of (.+?) (?=(?:are|is|do|have|did)\b)", r"how many \1 "),
    ((r"^how many ((?-i:[A-Z\x00])[\w\x00'. -]*?) (?:are|is|do we have|have we got|have we|did we)(?: currently| still| now)? on order\b"
     r"(?: at the moment| right now| now| currently)?"), r"total units on order of \1"),
    (r"^how many (\w+) (?:are|do we have|have we)(?: currently| still| now)? on order\b(?: at the moment| right now| now| currently)?",
     r"how many \1 with units on order above 0"),
    (r"\b(?:that |which )?(?:are|is|we have|currently)(?: currently| still| now)? on order\b(?=\W*$| (?:at|now|right|but|and|from)\b)",
     "with units on order above 0"),
    (r"\bon order(?=\W*$| (?:at the moment|right now|now|currently)\b)", "onorder"),
    ((r"\b(?:do|have) we (?:still )?(?:have |got )?left(?: in stock)?(?=\W*$)|\b(?:are|is) (?:still |there )?(?:left|remaining)"
         r"(?: in stock)?(?=\W*$)"),
     "are in stock"),
    ((r"\b(?:excluding|except(?: for)?) (?:the |those |all )?(?:people|employees|staff|ones|those) (?:that|who|which)"
     r"(?: have| has| had| are| were)? (?=\w+(?=\W*$|,))"), "excluding "),
    # parts of names
    ((r"\b(with|have|has|having|had|contain|contains|containing) (?:the )?(?:word |words |term )?(?!no\b|a\b|an\b|any\b|more\b"
         r"|the\b|their\b)([\w'-]+) "
         r"(?:anywhere )?(?=in (?:the|their|its) (?:name|title)s?\b)"), r'\1 "\2" '),
    ((r"\b(?:that |which |whose (?P<d>name|title)s? )?(?:starts?|starting|begins?|beginning) with (?:the letter |an? )?[\"']?"
         r"(?P<x>(?-i:[A-Z])[\w-]*)\b[\"']?"),
     r'name startswith "\g<x>"'),
    (r"\b(?:that |which |whose (?:name|title)s? )?(?:starts?|starting|begins?|beginning) with (?:the letter )?(?=\x00)",
     "name startswith "),
    # persons
    (rf"\b{_THINGS} (?:(?:that |who |whom )?we|who (?:was|were)|(?:was|were)|to be) (?=(?:hired|recruited)\b)", "employee "),
    (r"\b(\d+ |ten |five |three )?(?:biggest|top|highest|best) (\d+ )?(?:spenders|buyers)\b", r"top \1\2customers by revenue"),
    (r"\b(?:biggest|top|highest) spender\b", "customer with the highest revenue"),
    (rf"\b{_THINGS} (?:that )?(?:we|you) {_SELL}\b", "product"),
    ((r"\b(?:that |which )?(?:nobody|no one|no customer|no client|none of (?:our|the) (?:customers|clients))(?: has| have)?(?: ever)? "
     r"(bought|ordered|purchased)\b"), r"that were never \1"),
    # whether someone did
    ((r"^(?:did|has|have) ((?-i:[A-Z\x00])[\w\x00&'. -]*?) (?:ever )?(?:buy|bought|order|ordered|purchase|purchased) "
     r"(?=(?-i:[A-Z\x00]))(.+?)(?: from us)?(?: before)?\W*$"), r"are there any orders from \1 for \2"),
    (r"\b(?:were |was |are |is )?(?:shipped|sent|dispatched|delivered)(?: out)? (?:too )?late\b", "shipped later than required date"),
    (r"\b(?:late|delayed|overdue) (orders|shipments)\b", r"orders shipped later than required date"),
    (r"\bhired (?:the )?first\b", "hired earliest"), (r"\bhired (?:the )?last\b", "hired latest"),
    (r"\b(biggest|largest|highest|smallest|lowest|cheapest) single\b", r"\1"),
    (r"^(?:is |do we have )?anything (?=(?:out of stock|discontinued)\b)", "which products are "),
    (r"\b(average|avg|mean) order size\b", "average order value"), (r"\border size\b", "order amount"),
    (r"^how (?:is|are|was|were) (?:our |the )?(.+?) (?:looking|doing|going|performing|trending|holding up)\b", r"what is \1"),
    (r"^compare ([^,]+? (?:and|with|to|vs\.?|versus) [^,]+?) by ([a-z ]+?)\W*$", r"compare \2 of \1"),
    # two times, two things
    ((r"\b(last|this) (month|quarter|week|year)(?: against| vs\.?| versus| compared (?:to|with)| and| than| over) the (?:\2|one) before"
     r"(?: (?:that|it|last))?\b"), r"\1 \2 vs \2 before \1"),
    (r"\b(month|quarter|week|year) before this\b", r"last \1"),
    (r"^(?P<a>[^,:?]+? and [^,:?]+?)[:,] whose (?P<x>[^,?]+?) (?:is|are|was|were) " + _WAYS + r"\b", r"compare \g<x> of \g<a>"),
    ((r"^(?P<a>[^,:?]+? (?:or|and|vs\.?|versus) [^,:?]+?)[:,] (?:which|who)(?: one| of them| of the two)? (?:has|had|have"
         r"|brought|made) (?:the )?")
     + _WAYS + r" (?P<x>[^,?]+)", r"compare \g<x> of \g<a>"),
    (r"^(?P<a>[\w' -]+?) (?:vs\.?|versus|and) (?P<b>[\w' -]+?)[:,] how many (?P<what>\w+) (?:of|were|are) each\b",
     r"how many \g<what> \g<a> and \g<b> respectively"),
    # columns said as a sentence
    (r",? (?:and |with )?(?:the )?(?:date|day) (?:when |that |on which )?(?:we|they|it|each|he|she)\b[^,?]*$", ", when"),
    ((r",? (?:and )?(?:in )?(?:which|what) (city|country|office|region|state) (?:they|it|he|she|each)(?: each| all)? (?:sits?"
         r"|works?|lives?|are|is|belongs?|live)"
         r"(?: in| to| from)?\b"), r" and \1"),
    (r"^([^,]+), (names?) and (\w+)(?=\W*$)", r"\2 and \3 of \1"),
    (r"\b(?:longest|biggest|largest) (?:gap|delay|lag|wait|time)(?: span)? in days\b", "longest days"),
    (r"\b(?:shortest|smallest) (?:gap|delay|lag|wait|time)(?: span)? in days\b", "shortest days"),
    (r"\baverage (?:gap|delay|lag|wait) in days\b", "average days"),
)  # fmt: skip
