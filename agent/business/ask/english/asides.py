"""Remarks behind a question on how its answer should look, where the answer has it anyway."""

from agent.business.ask.english.blocks import END, ME, MONTH, SUPERLATIVE, THEIR, TIME, YEAR, Forms

_TIMED = f"(?:{MONTH}|{TIME}|{YEAR})"
_COUNT = "(?:just |only )?(?:the )?(?:count|number|total number)"

ASIDES: Forms = (
    # two times counted together are neither each of them nor a span
    (
        rf"^((?:how many|number of|count of)\b(?!.*{_TIMED} and {_TIMED}).* and .*?),? (?:taken together|together|combined|altogether)\W*$",
        r"\1",
    ),
    (rf"^(?:are|is) there (?:any )?(.+?)\?\s*(?:just |only )?{THEIR}names?(?:,? please)?{END}", r"list \1"),
    (
        rf"^(?:just |only )?(.+?)\s*(?:[,:]|- )\s*(?:how many(?: (?:are there|do we have|in total|is that))?|{_COUNT})\W*$",
        r"how many \1",
    ),
    (
        (
            rf"\?\s*(?:please )?(?:show|give|list|name|tell){ME} (?:both|them|both \w+|all of them|the numbers"
            r"|both numbers|both figures)\W*$"
        ),
        "",
    ),
    (r"^(list|show|give me|show me) (?:only|just) (?=the\b|\w+s\b)", r"\1 "),
    (r",? (?:in units|in pieces|in numbers)\W*$", ""),
    (
        (
            r"[.?!;,–-]+\s*(?:just |only )?(?:one|a single|the) (?:figure|number|city|name|total|sum|count)s? "
            f"(?:is|are|will be|would be|will|would)(?: enough| sufficient| fine| ok| plenty| all i need| do){END}"
        ),
        "",
    ),
    (
        (
            rf"^(?=.*\b{SUPERLATIVE}\b)(.+?)[.?!;,]\s*(?:please )?(?:show|give|include|add|state){ME}"
            f"(?: also)? {THEIR}(?:numbers?|figures?|counts?){END}"
        ),
        r"\1",
    ),
    (
        (
            rf"^(?=.*\b{SUPERLATIVE}\b)(.+?),? (?:with|and|plus|along with) {THEIR}(?:corresponding |exact "
            f"|respective )?(?:figures|numbers|counts){END}"
        ),
        r"\1",
    ),
    (
        (
            rf"^(?=.*\b(?:sales|revenue|turnover|money)\b)(?=.*\b{SUPERLATIVE}\b)(.+?),? (?:with|and|plus)"
            f"(?: for)? (?:amounts|how much|what they spent){END}"
        ),
        r"\1",
    ),
    (rf"[,;:]\s*(?:please )?(?:list|name|show|give){ME} (?:them|those|these)(?: all)?{END}", ""),
    (
        (
            rf"\s+(?:and |with |plus )?{THEIR}(?:totals|totals for each|respective totals|total for each"
            f"|amounts for each){END}"
        ),
        "",
    ),
    (r"\?\s*(?:i|we) (?:only |just )?need (?:the|their|its) (?:[a-z]+ )?names?\W*$", ""),
    (rf"\?\s*(?:i|we) (?:only |just )?need (?:the|their|its) (?:order|invoice) (?:numbers|ids){END}", ""),
    (rf"[,;:]\s*(?:which|who|what) (?:are|were) (?:they|those|these){END}", ""),
    (
        (
            r"[,;:]\s*(?:side by side|next to each other|at a glance|just the (?:count|number"
            f"|total)s?|numbers only|one line each){END}"
        ),
        "",
    ),
    (f"^(?!put|set|place|hold)(.+) (?:side by side|next to each other){END}", r"\1"),
    (rf"\b(cheapest|most expensive) (\w+)[.?!:]\s*(?:give )?(?:the )?names? and prices?{END}", r"\1 \2"),
)
