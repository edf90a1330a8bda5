"""Building blocks of the English tables: alternatives that several patterns share, each a group of its own without a number."""

Forms = tuple[tuple[str, str], ...]  # a pattern, and what is read in its place; letter case does not count

# where in a question
END = r"(?=\W*$)"  # only the stop of the sentence follows
THEN_A_TIME = (
    r"(?= (?:in|during|since|last|this|between|from|per|by|each|so far|until|over|on|to date|for|through)\b|\W*$)"
)
GOES_ON = r"(?:(?<!\w\w[.'-])|(?<=\b(?:[jsdm]r|st|ms)\.))"  # a stop after a word ends the sentence: “by Kurt Cobain.”

# names
CAPITAL = r"(?-i:[A-Z])"
NAME = r"(?-i:[A-Z\x00])"  # how a name begins: a capital, or the mark that stands for a quoted one

# small words
OUR = "(?:the |our )?"
THEIR = "(?:the |their |its )?"
ME = "(?: me| us)?"
WHICH = "(?:which|what)"
NUMBER = r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"

# times
YEAR = r"(?:19|20)\d\d"
UNIT = "(?:day|week|month|quarter|year)"
MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
TIME = rf"(?:(?:q[1-4] |h[12] )?(?:of )?{YEAR}|(?:this|last) (?:year|month|quarter|week))"
SPAN = (
    "(?:(?:the )?(?:past|last|previous|current|most recent|first|second|third|fourth)|this"
    rf"|{MONTH}|q[1-4]|h[12])"
)

# people
ANYONE = "(?:anyone|anybody|someone|somebody)"
COMPANY = "(?:(?:the |our |this )?(?:company|firm|business|organi[sz]ation|team|workforce)|us)"
PERSON = "(?:who|which (?:employee|person|colleague|staff member|one of us|of our (?:employees|people|colleagues)))"
RUNS = (
    "(?:owns?|runs?|leads?|heads?|manages?|supervises?|handles?|looks? after|takes? care of|is (?:in charge of"
    "|responsible for|the owner of|the lead of|the manager of|leading|running|managing|heading|behind))"
)
THINGS = "(?:people|person|ones?|things?)"

# trade
BOUGHT = "(?:bought|ordered|purchased)"
SELL = "(?:sell|sold|offer|carry|stock|have|list)"
DEALS = r"(?:[\w-]+ )?(?:orders?|deals?|invoices?|purchases?)"  # “paid orders”
EARN_IN = (
    "(?:br(?:ing|ought) (?:us |our company )?in|generated?|gross(?:ed)?|contributed?|yield(?:ed)?|take in|taken in"
    "|took in|rake in)"
)
EARN_US = "(?:(?:earn(?:ed)?|ma[kd]e|br(?:ing|ought)(?: in)?|fetch(?:ed)?|get|got|yield(?:ed)?) (?:us|for us))"

# more and most
MORE = "(?:higher|greater|bigger|larger|better|more|stronger)"
MOST = "(?:biggest|largest|highest|lowest|smallest|greatest)"
SUPERLATIVE = (
    "(?:most|least|best|worst|biggest|largest|highest|lowest|smallest|longest|shortest|greatest|fewest|top|first"
    "|latest|earliest)"
)
DEAREST = "(?:most expensive|dearest|priciest|costliest|most costly|most pricey|highest[- ]priced)"
CHEAPEST = "(?:cheapest|least expensive|lowest[- ]priced|most affordable)"
