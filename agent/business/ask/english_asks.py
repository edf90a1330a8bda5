"""How the same thing is asked in English by different people, as the plain words for it.

Patterns over the text, in order, after contractions and politeness are gone. Nothing is said here of what a layer holds.
"""

_SUP = r"(?:most|least|best|worst|biggest|largest|highest|lowest|smallest|longest|shortest|greatest|fewest|top|first|latest|earliest)"
_N = r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_TIME = r"(?:(?:q[1-4] |h[12] )?(?:of )?(?:19|20)\d\d|(?:this|last) (?:year|month|quarter|week))"
_END = r"(?=\W*$)"
_ON = r"(?= (?:in|during|since|last|this|between|from|per|by|each|so far|until|over|on|to date|for|through)\b|\W*$)"
_EARN_IN = (
    r"(?:br(?:ing|ought) (?:us |our company )?in|generated?|gross(?:ed)?|contributed?|yield(?:ed)?|take in|taken in|"
    r"took in|rake in)"
)
_EARN_US = r"(?:(?:earn(?:ed)?|ma[kd]e|br(?:ing|ought)(?: in)?|fetch(?:ed)?|get|got|yield(?:ed)?) (?:us|for us))"
_DEAR = r"(?:most expensive|dearest|priciest|costliest|most costly|most pricey|highest[- ]priced)"
_CHEAP = r"(?:cheapest|least expensive|lowest[- ]priced|most affordable)"
_RUN = (
    r"(?:owns?|runs?|leads?|heads?|manages?|supervises?|handles?|looks? after|takes? care of|is (?:in charge of|responsible for|"
    r"the owner "
    r"of|the lead of|the manager of|leading|running|managing|heading|behind))"
)
_PERSON = r"(?:who|which (?:employee|person|colleague|staff member|one of us|of our (?:employees|people|colleagues)))"
_MOST = r"(?:biggest|largest|highest|lowest|smallest|greatest)"
_COMPANY = r"(?:the |our |this )?(?:company|firm|business|organi[sz]ation|team|workforce)|us"
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"

ASK_FORMS: tuple[tuple[str, str], ...] = (
    # what is said by the way
    ((r"[.?!;,–-]+\s*(?:just |only )?(?:one|a single|the) (?:figure|number|city|name|total|sum|count)s? (?:is|are|will be|"
      r"would be|will|would)"
      r"(?: enough| sufficient| fine| ok| plenty| all i need| do)" + _END), ""),
    ((rf"^(?=.*\b{_SUP}\b)(.+?)[.?!;,]\s*(?:please )?(?:show|give|include|add|state)(?: me| us)?(?: also)? (?:the |their |its )?"
     rf"(?:numbers?|figures?|counts?){_END}"), r"\1"),
    ((rf"^(?=.*\b{_SUP}\b)(.+?),? (?:with|and|plus|along with) (?:the |their |its )?(?:corresponding |exact |respective )?"
     rf"(?:figures|numbers|counts){_END}"), r"\1"),
    ((rf"^(?=.*\b(?:sales|revenue|turnover|money)\b)(?=.*\b{_SUP}\b)(.+?),? (?:with|and|plus)(?: for)? (?:amounts|how much|"
      rf"what they spent)"
     rf"{_END}"), r"\1"),
    ((r"^(?:please )?(?:send|mail|email|forward|hand|prepare|provide)(?: me| us)?(?: with)? (?=(?:the|all|a list|every|an? |"
      r"names)\b)"), "list "),
    (r"^let (?:me|us) (?:have|see) (?=\w)", "list "),
    (r"^(?:i|we) would (?:like|love)(?: to (?:have|get|see|view))? (?=\w)", "show "),
    (r"^((?:list|show|give me|show me)) every (?:single )?(?!month|quarter|year|week|day)", r"\1 all "),
    (r"\b(?:of|from) every (?=(?-i:[A-Z]))", "of all "),
    (r"\bincluding (?:their|its|the) (?=(?:phone|e?mail|price|name|title|date|address|city|country|budget|contact)s?\b)", "with "),
    (r",? with (?:his|her|their|its) (?=\w)", " with "),
    (r"\b(?:his or her|his/her|their respective)\b", "their"), (r"\b(?:he or she|he/she)\b", "they"),
    (r"\btelephones?\b", "phone"), (r"\btakings\b", "revenue"),
    (r"\b(?:ended|wound|ends?) up (?:being |as |getting )?(?=\w)", "were "),
    (r"\b(members?) of (?:the |our )?staff\b", "staff"), (r"\b(?:staff|team) members?\b", "staff"),
    (r"\bperson on (?:the|our) staff\b", "employee"),
    (rf"\b{_DEAR}\b", "most expensive"), (rf"\b{_CHEAP}\b", "cheapest"),
    # the time said first
    ((r"^((?:in|during|since|for|from) (?:(?!,| and | or ).)*?(?:\d|year|month|quarter|week|yesterday|today)(?:(?!,| and | or ).)*), "
     r"(?=(?:how|what|which|who|where|when|show|list|give)\b)(?!.*(?:\?.*\w|,? and (?:what|how|who|which|when)\b))(.*?)\W*$"), r"\2 \1"),
    (r"^(day|week|month|quarter|year) by \1 ([^,]*), (.*?)\W*$", r"\3 per \1 \2"),
    # times
    (r"\bfrom (.+?) (?:till|until|til|up to|up until|to) (?:now|today|date|the present)\b", r"since \1"),
    (r"\b(?:from|since) the (?:beginning|start) of (?=(?:19|20)\d\d)", "since "),
    (rf"\b(to|until|till|through|thru|-) (?:and including )?the (?:very )?end of (?={_MONTHS}|q[1-4]|(?:19|20)\d\d)", "to "),
    (r"\bup to and including\b", "to"),
    (rf"\b(?:for|in|over|during) the (?:period|time|timeframe|time frame) (?:from |between |of )?(?=\d|{_MONTHS})", "from "),
    (rf"((?:{_MONTHS}|(?:19|20)\d\d|\b\d{{1,2}})), (\d{{1,2}} {_MONTHS}(?: (?:19|20)\d\d)?){_END}", r"\1 to \2"),
    (rf"\bstarting (?:from|in|with) (?=(?:{_MONTHS} )?(?:19|20)\d\d)", "since "),
    (r"\b(?:from )?((?:19|20)\d\d) (?:on|onward|onwards)\b(?! the)", r"since \1"),
    # what is earned
    ((r"\bhow much (?:money |revenue |turnover )?(?:came|comes|has come|have come|was coming) in(?: through| from| via|"
      r" with)? (?=(?-i:[A-Z]))"),
     "what was the revenue of "),
    (rf"\bhow much (?:money |revenue |turnover )?(?:came|comes|has come|was coming) in{_ON}", "what was revenue"),
    ((rf"\bhow much (?:money |revenue |turnover )?(?:did|does|do|has|have) (?!we\b|you\b|it\b)((?:(?!\band\b|,).)+?) (?:{_EARN_IN}|"
      rf"{_EARN_US}){_ON}"),
     r"what was the revenue of \1"),
    ((rf"\bhow much (?:did|does|has|have) ((?:each|every|the) (?:category|genre|product|item|region|industry|country|city|"
      rf"supplier|customer)) "
     rf"(?:earn|make|bring in|take|gross){_ON}"), r"what was the revenue of \1"),
    ((rf"\bwhat (?:did|does|has|have) (?!we\b|you\b|it\b)((?:(?!\band\b|,).)+?) (?:{_EARN_IN}|{_EARN_US}|contribute to (?:our |"
      rf"the )?(?:revenue|sales|"
     rf"turnover)){_ON}"), r"what was the revenue of \1"),
    (r"\bwhat (?:did|do|have) we (?:make|made|earn|earned|take|taken|gross|collect|get) (?:with|on|off|from|through) (?=(?-i:[A-Z]))",
     "what was the revenue of "),
    (r"\bhow much (?:money )?(?:have|did|has) we (?:lost?|lose|losing) (?:to|through|from|because of|due to|on|with|over) (?=cancel+ed)",
     "what is the total amount of "),
    (r"^(.+?) (?:amounted|amounts|came|added up|totalled) to how much\b", r"what was \1"),
    ((rf"^how much did (cancel+ed|paid|open|unpaid) (.+?) (?:come|amount|add up|sum up|"
      rf"run) to{_ON}"), r"what is the total amount of \1 \2"),
    (r"\b(how (?:much|many)|what) did we (?:turn over|turned over)\b", r"what was revenue"),
    (r"\bhow much (?:have|did) we (?:turned|turn) over\b|\bwhat have we turned over\b", "what was revenue"),
    (r"^(?=.*\bhow much\b.*\b(?:sell|sold)\b)(.+?),? in (?:money|revenue|cash|monetary)(?: terms)?(?=\W*$| )", r"\1"),
    (r"\bhow (?:big|large) (?:is|was) (?:our|the) (customer|client|user|employee|supplier|product) base\b", r"how many \1s do we have"),
    (r"\bthe (?:individual|single|various|respective) (categories|countries|cities|industries)\b", r"each of the \1"),
    # averages
    (r"^(?:on average|typically),? (.*?)\W*$", r"\1 on average"),
    ((r"\b(?:how much|what) (?:is|was|were|are) (?:an?|the|our) (?:average )?((?:[\w-]+ )?(?:orders?|deals?|sales orders?|"
      r"invoices?|purchases?)) worth"
     r"((?: in| during| last| this)? [\w ]*?)? on average\b"), r"average worth of \1\2"),
    (r"\b(?:how much|what) (?:is|was|were|are) (?:an?|the|our) ((?:[\w-]+ )?(?:orders?|deals?|invoices?|purchases?)) worth on average\b",
     r"average worth of \1"),
    ((r"\bhow (?:big|large|high|much) (?:is|was) (?:the|our|an) average ((?:[\w-]+ )?(?:order|deal|invoice|"
      r"purchase))\b"), r"average worth of \1"),
    ((r"\bwhat did (?:an?|the|our) ((?:[\w-]+ )?(?:orders?|deals?|invoices?|purchases?)) (?:amount to|come to|bring in|bring us|"
      r"add up to|cost)"
     r"(.*?) on average\b"), r"average worth of \1\2"),
    (r"\baverage (?:size|worth|value|volume) of (?:an?|the|our|all)? ?((?:[\w-]+ )?(?:orders?|deals?|invoices?|purchases?))\b",
     r"average worth of \1"),
    (r"\baverage (order|deal|invoice|purchase) (?:worth|size)\b", r"average worth of \1s"),
    (r"\baverage (\w+) count (?:of|per|for|on|in) (?:an?|each|every|the) (\w+)", r"average number of \1s per \2"),
    # prices
    (r"\bhow (?:expensive|dear|pricey) is\b", "what is the price of"),
    (r"\bwhat do we (?:charge|ask|take) for (?:the|our) (?=most expensive|cheapest)", "what is the price of the "),
    (r"^(?=.*\b(?:each|every|per)\b)(.*?)\b(?:price|cost) of (?:the|its|our|their) most expensive (\w+)", r"\1highest price of \2"),
    (r"^(?=.*\b(?:each|every|per)\b)(.*?)\b(?:price|cost) of (?:the|its|our|their) cheapest (\w+)", r"\1lowest price of \2"),
    ((r"^(?:what|how much) (?:does|do|did) the most expensive (\w+) (?:in|of|per|from) (?:each|"
      r"every) (\w+) cost"), r"highest price of \1 in each \2"),
    ((r"^(?:what|how much) (?:does|do|did) the cheapest (\w+) (?:in|of|per|from) (?:each|"
      r"every) (\w+) cost"), r"lowest price of \1 in each \2"),
    ((r"^(?:what|how much) (?:does|do|did) (?:the|our|your) (most expensive|cheapest) (.+?) (?:cost|sell for|"
      r"go for)\b"), r"which is the \1 \2"),
    (r"^(?:what is |what was )?(?:the )?price of (?:the|our) (most expensive|cheapest) (?=\w)", r"which is the \1 "),
    (r"\bwhat (?:does|do) (it|they) (?:sell|retail|go) (?:for|at)\b", r"what does \1 cost"),
    (r",? and (?:at|for) (?:what|which) price\b", " and what does it cost"),
    (r"\bat what price" + _END, "what does it cost"),
    (r"\b(cheapest|most expensive) (\w+)[.?!:]\s*(?:give )?(?:the )?names? and prices?" + _END, r"\1 \2"),
    (r"\b(?:the )?(?:top|maximum|peak) price\b", "highest price"),
    (r"^(?:show|list|give me)?(?: me)? ?(\w+) by (\w+), how many each" + _END, r"number of \1 by \2"),
    (r"^how many (.+?) (?:has|have) (each|every) (\w+) got\b", r"how many \1 does \2 \3 have"),
    (r"\b(?!percentage|like|other)(\w+)-wise (\w+(?: count| sales)?)", r"\2 by \1"),
    ((r"\bhow (?:did|does|do|has|have) (.+?) (?:develop|evolve|change|progress|look|move)(?:d|ed)? (?=(?:by|per|each|every|from) "
     r"(?:month|quarter|year|week|day)\b|month by month|quarter by quarter|monthly|quarterly|yearly|weekly|daily|over time)"), r"\1 "),
    (r"^how many (\w+) did (?:each|every) (\w+) ship (after .+?)" + _END, r"number of \1 shipped \3 per \2"),
    (r"^((?!.*\b(?:bought|ordered|purchased|had?s?|have)\b).*), (?:only|just|solely) (?=for\b|(?-i:[A-Z]))(?:for )?", r"\1 for "),
    (r",? (?:restricted|limited|confined) to (?:the )?", " for "),
    # the first ones
    (rf"^(?:the |our |list the |show the |give me the )?(?:best|leading) ({_N}) (?=\w+ (?:by|in terms of)\b)", r"top \1 "),
    (rf"^(?:the |our )?({_N}) (?:best|leading|biggest) (\w+) (?:by|in terms of) ", r"top \1 \2 by "),
    ((rf"^(?:list |show |give |what are |which are )?(?:me )?(?:the |our )?(?:top )?({_N}) (?:best|top|most)[- ](?:selling|sold) (\w+)"
     rf"(?:,? (?:with|along with|including|and) (?:their |the )?(?:units|quantity|numbers?)(?: of units)?(?: sold)?"
     rf"|,? and how many (?:\w+ )?(?:each|they|each of them) (?:sold|sell))?"), r"top \1 \2 by units sold"),
    (rf"^which ({_N}) (\w+) (?:sell|sold|sells) (?:the )?best(?:,? and how many (?:\w+ )?did each sell)?", r"top \1 \2 by units sold"),
    ((rf"^rank (?:the |our |all )?(.+?) by (.+?) and (?:show|give|list)(?: me)?(?: only)? the (?:first|"
      rf"top) ({_N}){_END}"), r"top \3 \1 by \2"),
    (rf"^(\w+) (with the highest .+?|by .+?)[:,] top ({_N}){_END}", r"top \3 \1 \2"),
    (rf"\btop ({_N}) (?:spenders|buyers)\b", r"top \1 customers by revenue"),
    (r"\bis represented by the (fewest|least|most)\b", r"has the \1"),
    (r"^(?:which|who)(?: one)? (?:of|among|amongst) (?:all )?(?:our|the) (\w+) (?:is|was) the\b", r"which \1 is the"),
    (r"^(who|which one) is the (\w+) (?:of|among|amongst) (?:all )?(?:our|the) (\w+)" + _END, r"which \3 is the \2"),
    ((r"^(?:the )?names? and (.+?) of (?:the|our) ((?:youngest|oldest|newest|most expensive|cheapest|biggest|largest|longest|"
      r"shortest)\b.+)$"),
     r"\2 with \1"),
    # who is in charge of the first one
    (rf"^{_PERSON} {_RUN} (?:the |our )?(\w+) (?:with|that has|having|which has) the (?:single )?({_MOST}) (\w+){_END}",
     r"which \1 has the \2 \3, and who owns it"),
    (rf"^{_PERSON} {_RUN} (?:the |our )?({_MOST}) (\w+) by (\w+){_END}", r"which \2 has the \1 \3, and who owns it"),
    (rf"^{_PERSON} {_RUN} (?:the |our )?({_MOST})[- ](budget) (\w+){_END}", r"which \3 has the \1 \2, and who owns it"),
    (rf"^(?:the )?(\w+) with the ({_MOST}) (\w+)[:,] who (?:owns|runs|leads|manages) it{_END}", r"which \1 has the \2 \3, and who owns it"),
    # which of two, both of two
    (r"^(?:does|do|did|has|have) ((?-i:[A-Z\x00])[^,?]*?) or ((?-i:[A-Z\x00])[^,?]*?) (?:have|has|got|sell|sold)(?: got)? (?:more|"
      r"fewer) ([a-z ]+?)" + _END,
     r"compare number of \3 of \1 and \2"),
    (r"^(?:do|did|are|have) (?:we|there) ?(?:got |stock |have |carry |offer |sell |keep |hold )?(?:more|"
      r"fewer) (.+?) (\w+) or (?:more |fewer )?(.+?) \2"
     + _END, r"compare number of \2 of \1 and \3"),
    (r"^(?:do|did|are|have) (?:we|there) ?(?:got |stock |have |carry |offer |sell |keep |hold )?(?:more|"
      r"fewer) ((?-i:[A-Z]).+?) (?:tracks|songs) or "
     r"(?:more |fewer )?((?-i:[A-Z]).+?) (tracks|songs)" + _END, r"compare number of \3 of \1 and \2"),
    (r"^(?:do|did|are|have) (?:we|there) ?(?:got |have |stock |carry |offer )?more (\w+) (?:by|of|from|in) (.+?) or (?:by |of |"
      r"from |in )?(.+?)" + _END,
     r"compare number of \1 of \2 and \3"),
    (r"^which of the (?:two|both) (?:has|have|had|sells) (?:more|"
      r"fewer) ([\w ]+?)[:,] (.+?) or (.+?)" + _END, r"compare number of \1 of \2 and \3"),
    (r"^(\w+) (by|of|in|from) (.+?) (?:against|versus|vs\.?|compared (?:to|"
      r"with)) \1 \2 (.+?)" + _END, r"number of \1 \2 \3 and \4 respectively"),
    (r"^((?-i:[A-Z\x00])[^,:]*? and (?-i:[A-Z\x00])[^,:]*?)[:,] how many (\w+) (?:(?:has|have|does|do|did) )?each(?: have| has|"
      r" got)?" + _END,
     r"number of \2 of \1 respectively"),
    (r"^how many (\w+) (?:do|does|did|have) (.+? and .+?) each (?:have|has|got|contain)" + _END, r"number of \1 of \2 respectively"),
    (r"^how many (\w+)( [^?,]*?)? (in|from|by|with|of|for) ([^,?]+?),? and how many(?: of them)?(?: are| were| have|"
      r" do we have)?(?: based| located)? \3 "
     r"([^,?]+?)" + _END, r"how many \1\2 \3 \4 and \5 respectively"),
    (r"^((?:the )?number of .+ (in|from|by|of) .+? and) \2 (.+?),? (?:separately|each|individually)" + _END, r"\1 \3 respectively"),
    (r"^(?:put|set|place|hold) (.+?) (?:next to|against|beside|alongside) ", r"compare \1 with "),
    (r" (?:side by side|next to each other)" + _END, ""),
    (rf"\b(q[1-4]|h[12]|{_MONTHS}) (revenue|sales|turnover|orders) (?:of |in |for )?(this year|last year|(?:19|20)\d\d)", r"\2 \1 \3"),
    ((rf"^(q[1-4]|h[12]|{_MONTHS}) (revenue|sales|turnover)[:,] (?:this year) (?:against|vs\.?|versus|and|compared (?:to|"
      rf"with)) last(?: year)?{_END}"),
     r"\2 \1 this year vs \1 last year"),
    ((rf"^compare (.+?) (in|for|of|during) ({_TIME}) (?:with|to|against|and) (?:(?:those|that|the same|the ones|the figure|"
      rf"\1)(?: (?:in|for|of|from|during))? "
     rf"|(?:in|for|of|from) )?({_TIME}){_END}"), r"\1 in \3 vs \4"),
    (rf"\b(with|to|against) (?:those|that|the ones) (?:in|of|from|for) (?={_TIME})", r"\1 "),
    ((r"^(?:and )?by (?:what|which|how much|how many) ?(?:percentage|percent|per cent|%)? did (?:our |the )?(.+?) (?:change|grow|"
      r"rise|increase|go up|"
     r"climb|drop|fall|decrease|decline|go down|shrink)\b"), r"percentage change in \1"),
    (r"\bhow much did (?:our |the )?(.+?) (?:go up|rise|climb|grow|increase)\b", r"percentage change in \1"),
    ((r"^(.*?),? ?(?:our )?\b(revenue|sales|turnover) (?:changed|grew|rose|fell|dropped|increased) by (?:what|how many|"
      r"which) (?:percentage|percent)\b(.*)$"),
     r"percentage change in \2 \1\3"),
    (r"^(?=.*\b(?:change|growth|grow|grew)\b)(.+?),? in (?:percent|%|percentage|percentage terms)(?=\W*$| )", r"\1"),
    (r"^(?:what is |what was )?the difference (?:in|of) (?:our |"
      r"the )?(.+?) between (.+?) and (.+?)" + _END, r"difference in \1 from \2 to \3"),
    ((r"^(?:out of|of) (all .+?|the .+?),? (?:how many percent|what (?:percentage|share|proportion|fraction|percent|"
      r"part)) (?=(?:was|were|is|are|got|have|"
     r"has)\b)"), r"what percentage of \1 "),
    (r"\b(?:shipped|sent|delivered|transported|carried|dispatched|moved) (?:via|through|using|over) (?=(?-i:[A-Z]))", "shipped with "),
    ((r"^(?=.*\b(?:share|percentage|proportion|percent|portion|fraction)\b)(.*?)\b(?:is |are |was |were )?(?:shipped|sent|"
      r"delivered|transported|handled|dispatched) "
     r"by (?=(?-i:[A-Z]))"), r"\1shipped with "),
    (r"\b(?:did|does|do) (.+?) (?:make up|represent|constitute)\b", r"did \1 account for"),
    (r"\b(?:is|was) (?:due|attributable) to\b", "came from"),
    # columns of named things
    (r"^(?:the )?((?:phone|email|contact)[\w ]*?|addresses|cities) of (?:all )?(?:of )?(?:our |the )?(.+?),? (?:with|along with|"
      r"together with|and|including) "
     r"(?:their |the )?names?" + _END, r"names and \1 of \2"),
    (r"\b(?:the )?(?:order|invoice) (?:numbers|ids) of (?:all )?(?:the |our )?(?=(?:[\w-]+ ){0,2}(?:orders|invoices)\b)", ""),
    (r"\?\s*(?:i|we) (?:only |just )?need (?:the|their|its) (?:order|invoice) (?:numbers|ids)" + _END, ""),
    ((r"\b(orders?|deals?|invoices?|purchases?)\b((?: [\w,.]+){0,5}?) (?:booked|lodged|submitted|logged|entered|filed|raised) "
     r"(?=(?:last|this|in|on|yesterday|today|during|since|between|before|after|from)\b)"), r"\1\2 placed "),
    (r"^(?:how can (?:i|we)|how do (?:i|we)) (?:reach|contact|call) (.+?) by (phone|email)" + _END, r"what is the \2 of \1"),
    (r"^(?:what|which) (?:phone )?number (?:do|should|can) (?:i|we) (?:call|dial|ring|use) (?:for|"
      r"to reach) (.+?)" + _END, r"what is the phone of \1"),
    (r"^(?:under|at|on) (?:what|which) (phone|email)(?: number| address)? can (.+?) be (?:reached|contacted|"
      r"called)" + _END, r"what is the \1 of \2"),
    (r"^whom? (?:do|should|can|could|must) (?:i|we|you) (?:talk to|speak to|speak with|contact|call|write to|"
      r"get in touch with) (?:at|from|of) (.+?)" + _END,
     r"who is the contact of \1"),
    (r"^where (?:is|are) ((?-i:[A-Z\x00])[^?]*?) (?:based|located|situated|headquartered)" + _END, r"what is the city and country of \1"),
    (r"^(which|what) (\w+) is ((?-i:[A-Z\x00]).+?) (?:part of|listed under|filed under|listed in)" + _END, r"which \2 does \3 belong to"),
    (r"^(?:under|in|within) (?:which|what) (\w+) (?:is|are) (.+?) (?:listed|filed|grouped|classified|"
      r"sold)" + _END, r"which \1 does \2 belong to"),
    (r"^(?:which|what) (?:product )?(\w+) does (.+?) (?:fall under|come under|sit in|fall into|"
      r"go under)" + _END, r"which \1 does \2 belong to"),
    (r"^(?:from whom|who) do we (?:buy|get|source|order|purchase) ((?-i:[A-Z\x00]).+?)(?: from)?" + _END, r"who supplies \1"),
    (r"\bwhich (?:company|firm) (?=(?:supplies|delivers|provides)\b)", "which supplier "),
    (r"^(.*\b(?:orders|invoices)\b.*)[:,] (?:order|invoice) (?:numbers|ids)" + _END, r"\1"),
    (rf"\b(joined|join|joins|entered) (?:{_COMPANY})(?! \w+ing)\b", "joined"),
    (rf"\b(?:started|began) (?:working |work )?(?:here|with us|for us|at (?:{_COMPANY})|for (?:{_COMPANY}))\b", "joined"),
    (r"\b(?:came|come|got) on board\b", "joined"),
    (rf"^since when (?:has|is) ((?-i:[A-Z]).+?) (?:been )?(?:with us|working (?:for|with) us|employed|with (?:{_COMPANY})|"
      rf"here)" + _END, r"when was \1 hired"),
    (rf"^when did ((?-i:[A-Z]).+?) (?:join(?:ed)?(?: (?:{_COMPANY}))?|(?:start|begin) (?:work(?:ing)?|here|with us)(?: here|"
      rf" with us| for us)*)" + _END,
     r"when was \1 hired"),
    (r"^(?:on |at )?(?:what|which) (?:exact )?(?:date|day) (?=(?:was|were|did|is)\b)", "when "),
    (r"^when did ((?-i:[A-Z]).+?) (?:start|begin) (?:work(?:ing)?|here|with us)(?: here| with us| for us)*" + _END, r"when was \1 hired"),
    (r"^when did we (?:hire|recruit|employ|take on) (.+?)" + _END, r"when was \1 hired"),
    (r"^(?:what is )?(?:the )?(hire|birth) date of (?:our )?((?-i:[A-Z]).+?)" + _END, r"what is \2's \1 date"),
    (r"^(?:whom?|which (?:people|persons)) did we (?:hire|recruit|employ|take on)\b", "who was hired"),
    (r"\b(which \w+) did we (?:hire|recruit|take on)\b", r"\1 were hired"),
    ((r"(?<!excluding )(?<!except )(?<!without )\b"
      r"(?:everyone|everybody|anyone|anybody|all those|the people|which people|all people|persons|folks)(?: who| that)?(?: was|"
      r" were| got| has been| have been)? "
     r"(hired|joined|recruited|left)\b"), r"employees \1"),
    (r"^which people (?=(?:joined|were hired|left)\b)", "which employees "),
    (r"^when did we (?:get|receive|take|book|have|land) (?:our|the) (very )?(first|last|latest|earliest|"
      r"most recent) (\w+)" + _END, r"when was the \2 \3"),
    (r"^(?:the )?date of (?:the |our )?very (?=first|last)", "date of the "),
    (r"\boldest (?=\w+ date\b)", "earliest "), (r"\bnewest (?=\w+ date\b)", "latest "),
    (r"\b(?:for|with|to|of) an? ((?-i:[A-Z])\w+) destination\b", r"with destination country \1"),
    # whether there is someone
    ((r"\b(?:anyone|anybody|someone|somebody|a person|people) (?:who (?:works|is) )?(from|at|working at|working for|in|"
      r"with) (.+?) (?:among|in|on|within|amongst) "
     r"(?:our|the) (customers?|clients?|employees?|suppliers?|staff)(?: list| base)?\b"), r"any \3 from \2"),
    (r"^(?:is|have we got|do we have) (?:anyone|anybody|someone|somebody) (?:from|at) (.+?) (?:as )?(?:a |our )(customer|client|"
      r"supplier)(?: of ours)?" + _END,
     r"are there any \2 from \1"),
    (r"^does (?:anyone|anybody|someone|somebody) (?:from|at) (.+?) (?:buy|order|purchase)(?: from us| with us|"
      r" here)?" + _END, r"are there any customers from \1"),
    (r"\b(customers?|clients?) (?:who work |working |that work )(?:at|for|with)\b", r"\1 from"),
    (r"\b(?:is|are|have|has) (?:still )?yet to be (\w+)", r"have not been \1"),
    (r"\b(?:is|are|have|has) (?:still )?yet to ship\b", "have not been shipped"),
    ((r"\b(?:has|have|is|are) (?:still )?yet to (?:order(?: anything)?|place an(?:y)? orders?|buy(?: anything)?|"
      r"purchase(?: anything)?)\b"), "never ordered"),
    ((r"\b(?:still |are |is |currently )*(?:waiting|due|awaiting|"
      r"pending) to be shipped\b"), "not shipped"), (r"\bunshipped\b", "not shipped"),
    (r"\bnot shipped (orders?|invoices?)\b", r"\1 not shipped"),
    (r"\blate (orders|shipments)\W*\((shipped [^)]*)\)", r"number of orders \2"),
    ((r"\b(?:shipped|sent|went out)(?: too)? late\b|\bshipped (?:later|"
      r"after) than (?:was )?required\b"), "shipped after the required date"),
    (r"\b(?:were|are|was) late(?:,? i\.?e\.?,? shipped after the required date)?\b", "were shipped after the required date"),
    (r"^how many late (orders|shipments|deliveries)\b", "how many orders shipped after the required date"),
    (r"^(?:the |number of )?late (orders|shipments)\b", "number of orders shipped after the required date"),
    (r"^orders (shipped after the required date),? (?=per|by)", r"number of orders \1 "),
    (r"\bnone of in stock\b", "no stock of"), (r"\bno longer in stock\b", "out of stock"), ((r"\b(?:have|has) (?:run out|"
      r"sold out)\b"), "are out of stock"),
    (r"\b(no|zero) (stock|units|inventory) left\b", r"\1 \2"),
    ((r"^(?:is there )?(?:anything|something) (?:that is |which is )?(?=(?:still|with|out of|in|active|without|no|"
      r"currently)\b)"), "what is "),
    (r"^(are there (?:any )?[^?]+)\? which\b.*$", r"\1? which ones?"),
    ((r"(?<!stock),? (?:but|and|yet|although|though)(?: they| it)?(?: are| is)? (?=(?:(?:currently|now) )?(?:out of stock|in stock|"
      r"with (?:zero|no|0) (?:stock|units)|have no stock"
      r"|has no stock)\b)"), " "),
    (r"\b(?:that have|which have|with|have|having) (?:any |some )?units on order" + _END, "with units on order above 0"),
    (r"\b(?:do|have) we (?:currently |now )?(?:have |got )?on order" + _END, "with units on order above 0"),
    (r"^how many units (?:do we have|are|are there|have we got)(?: still| currently)? in stock(?: in total| altogether| overall|"
      r" across all \w+)?" + _END,
     "total units in stock"),
    (r"^what does (?:our|the) (stock|inventory) (?:add up|come|amount) to(?: in units| in total)?" + _END, r"total \1"),
    (r"\bover all (?=products|customers|orders|items|categories)", "across all "),
    (r"\bwithout (?:counting|considering|including)\b", "excluding"), (r"\banywhere but\b", "outside"),
    (r"\bnot (?:been )?(shipped|delivered|sent) by (?=the \w+ date)", r"not \1 intime by "),  # late, or not at all
    ((r"^for how many (\w+) (?:is|are|do we have|do we not have) (?:the |a |an )?(\w+) (?:is |are )?(?:missing|empty|"
      r"blank)\b"), r"how many \1 without \2"),
    (r"\b(have|has|with) an (?:empty|blank) (\w+)", r"\1 no \2"),
    ((r"\b(?:where|whose|for which) (?:the |their )?([\w ]+?) (?:is|are) (?:missing|empty|blank|not (?:known|given|set|"
      r"filled in))\b"), r"without \1"),
    # two figures
    (r"^how many (\w+)((?: (?!and\b)[\w']+)*?),? and (?:what|how much) (?:was|were|is|are|did|do) (?:they|their|its|"
      r"the)(?: combined| total| overall)?"
     r"(?: amount| total| sum| value| worth)?(?: add up to| sum up to| sum to| come to| amount to)?(?: in total| altogether|"
      r" together)?" + _END,
     r"number of \1 and total amount\2"),
    (r"^(?:in|during|for) ((?:19|20)\d\d|(?:last|this) (?:year|month|"
      r"quarter)), how many (\w+)((?: (?!and\b)[\w']+)*?),? and (?:what|how much) (?:was|were|is|are"
     r"|did|do) (?:they|their|its|the)(?: combined| total| overall)?(?: amount| total| sum| value| worth)?(?: add up to|"
      r" sum up to| sum to| come to"
     r"| amount to)?(?: in total| altogether| together)?" + _END, r"number of \2 and total amount\3 in \1"),
    (r"^(?:the )?(?:count|number) and (?:the )?total(?: amount)? of (?:the |our |all )?(\w+)", r"number of \1 and total amount"),
    (r"^(?:the )?total and (?:the )?(?:count|number) of (?:the |our |all )?(\w+)", r"number of \1 and total amount"),
    (r"^(\w+) ((?:in|for|of) [\w ]+?)[:,] (?:count|number) and (?:sum|total)(?: amount)?" + _END, r"number of \1 and total amount \2"),
    (r"\btotal ([\w ]+?) and the average(?: per \w+)?" + _END, r"total and average \1"),
    # ranges and comparisons
    ((rf"\b(?:for|at|of|range(?: of)?|ranging(?: from)?|cost|costs|priced) (?:from )?({_N}) ?(?:to|up to|-|"
      rf"–) ?({_N}){_END}"), r"costing between \1 and \2"),
    (r"\b(?:price of|prices?|priced at|priced) costing between\b", "price between"),
    (r"\b(?:sell|sells|retail|retails|go|goes) (?:for|at) (?=(?:between|more|less|over|under|above|below)\b)", "cost "),
    ((rf"\b(?:supplying|offering|delivering|providing|carrying) (?=(?:at least|more than|over|fewer than|less than|exactly|no|"
      rf"up to|{_N})\b)"), "with "),
    (rf"\b((?:at least|more than|fewer than|less than|exactly) {_N}) of our (?=\w)", r"\1 "),
)  # fmt: skip
