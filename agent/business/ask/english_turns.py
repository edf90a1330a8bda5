"""Turns of phrase of English: what is said by the way, or with a picture of it, in the wording that is read.

Patterns over the text, in order, before all others but those around a question; each says no more than what it stands for.
"""

_MONTHS = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_ANYONE = "(?:anyone|anybody|someone|somebody)"
_END = r"(?=\W*$)"
TURN_FORMS: tuple[tuple[str, str], ...] = (
    (r"^\W*(?:pls|plz)\b[\s,]*", ""),
    (r"\bincl\b\.?", "including"),
    (r"(?<=\w)(,? including (?:the |their |its )?\w+) (?:figure|number|amount|value)s?" + _END, r"\1"),
    # times
    (rf"\bfrom ({_MONTHS}) (?:through|thru|till|until) ({_MONTHS})\b", r"from \1 to \2"),
    (rf"\bbetween (?:the )?(\d{{1,2}})(?:st|nd|rd|th)? and (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})( (?:19|20)\d\d)?\b",
     r"between \1 \3\4 and \2 \3\4"),
    (rf"[,;] (?:only |just )?((?:19|20)\d\d) (?:orders|invoices|sales|figures)(?: only)?{_END}", r" in \1"),
    (r"\b(orders|invoices) dated (?=(?:between|in|from|on|before|after|since)\b)", r"\1 "),
    # whether there is one
    (rf"^(?:did|have) we (?:invoiced?|billed?) {_ANYONE}(?: at all| ever)? (?=(?:in|from)\b)", "are there any invoices to customers "),
    (rf"^(?:did|have) we (?:sell|sold)(?: anything)? to {_ANYONE}(?: at all| ever)? (?=(?:in|from)\b)",
     "are there any orders of customers "),
    ((r"^(?:did|have) we (?:pick(?:ed)? up|land(?:ed)?|gain(?:ed)?|win|won|acquired?|sign(?:ed)?(?: up)?)"
      r" (?:any|a)(?: new| single)? (?:customers?|clients?)\b"), "are there any customers signed"),
    # one against another
    ((r"\bof an? (\w+) (order|invoice|project|product) (?:vs\.?|versus|against|compared (?:to|with)|and) (?:that of )?an? (\w+) "
      r"(?:one|\2)\b"), r"of \1 vs \3 \2s"),
    ((r"^which (?:run|runs|last|lasts|are|is|play) longer(?: on average)?[,:]? (.+?)(?: (?:tracks|songs))? or (.+?) (tracks|songs)"
      + _END), r"compare average length of \1 and \2 \3"),
    # persons
    (r"^headcount (?=hired\b)", "number of employees "),
    (r"\b(?:everyone|everybody|people|those) on (?:our |the )?(?:staff|payroll)\b", "employees"),
    (r"\bmost recent hires\b|\b(?:latest|newest) hires\b", "most recently hired employees"),
    (r"^who (?:handled|processed|dealt with|took care of) the (most|fewest) orders\b", r"which employee had the \1 orders"),
    ((r"\b(?:biggest|top|highest|best) (?:buyer|spender)(?! of\b)(?: ?\((?:by|in) (?:amount|money|total|sum)(?: spent)?\)"
      r"| (?:by|in) (?:amount|money)(?: spent)?)?"),
     "customer with the highest revenue"),
    (r"^our (?=customer with the highest)", ""),
    (r"^(.+? (?:customers|suppliers)) where (?:our |the )?contact is (?:an? |the )?((?-i:[A-Z])[\w ]+?): company and contact name" + _END,
     r"company name and contact name of \1 whose contact title is \2"),
    # what things come to
    (r"\bwhose (?:tracks|songs) (?:add|sum) up to (?=(?:more|less|over|under|at)\b)", "with a total length of "),
    ((r"^if (?:i|we|you|one) (?:played?|listen(?:ed)? to) (?:every|all(?: the)?) (.+?) (?:song|track)s?(?: (?:that )?we have)?, "
      r"how (?:long|much time) would (?:that|it) take(?: in total| altogether)?" + _END), r"total length of \1 songs"),
    (r"\bwith an? total (?=(?:above|over|below|under|of (?:more|less|at))\b)", "with an amount "),
    (r"\b(?:carried|carry|carries) (?:a|any|some) discount\b", "with discount above 0"),
    (r"\b((?:best|worst|top)[- ]selling .+?) (?:in terms of|by|measured (?:in|by)) (?:units|quantity|copies|pieces)(?: sold)?" + _END,
     r"\1"),
    # places of things
    (r"\bwith destination (?=(?-i:[A-Z]))", "with destination country "),
    (r"^(?:the |which |what )?destination country (?:do )?(?:we |you )?ship to (?:the )?(least|most)(?: often| frequently)?" + _END,
     r"which destination country has the \1 orders"),
    (r"^what is (?:in|on) (?:the |our )?(.+? playlist)\W+(?:just|only) the (?:track|song) (?:names|titles)" + _END,
     r"which tracks are in the \1"),
    (r"\bnumber of (different|distinct) (\w+) (?:listed|there are|on file)" + _END, r"number of \1 \2"),
    (r"\b(?:that )?(?:we have )?on file,? but never\b", "never"),
    (r"\b(?:is|are) no longer (?=(?:used|in use)\b)", "are not "),
)  # fmt: skip
