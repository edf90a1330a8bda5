"""Whether there is one."""

from agent.business.ask.english.blocks import ANYONE, END, NAME, Forms

EXISTENCE: Forms = (
    (
        rf"^(?:did|have) we (?:invoiced?|billed?) {ANYONE}(?: at all| ever)? (?=(?:in|from)\b)",
        "are there any invoices to customers ",
    ),
    (
        (
            "^(?:did|have) we (?:pick(?:ed)? up|land(?:ed)?|gain(?:ed)?|win|won|acquired?|sign(?:ed)?(?: up)?) "
            r"(?:any|a)(?: new| single)? (?:customers?|clients?)\b"
        ),
        "are there any customers signed",
    ),
    (r"^any (?=\w[^?]*\??\W*$)", "are there any "),
    (
        (
            r"\b(?:anyone|anybody|someone|somebody|a person|people) (?:who (?:works|is) )?(from|at|working at"
            "|working for|in|with) (.+?) (?:among|in|on|within|amongst) (?:our|the) "
            r"(customers?|clients?|employees?|suppliers?|staff)(?: list| base)?\b"
        ),
        r"any \3 from \2",
    ),
    (
        (
            f"^(?:is|have we got|do we have) {ANYONE} (?:from|at) (.+?) (?:as )?(?:a |our )(customer|client"
            f"|supplier)(?: of ours)?{END}"
        ),
        r"are there any \2 from \1",
    ),
    (
        f"^does {ANYONE} (?:from|at) (.+?) (?:buy|order|purchase)(?: from us| with us| here)?{END}",
        r"are there any customers from \1",
    ),
    (r"\b(customers?|clients?) (?:who work |working |that work )(?:at|for|with)\b", r"\1 from"),
    (
        (
            "^(?:is there )?(?:anything|something) (?:that is |which is )?(?=(?:still|with|out of|in|active"
            r"|without|no|currently)\b)"
        ),
        "what is ",
    ),
    (
        (
            rf"^(?:did|has|have) ({NAME}[\w\x00&'. -]*?) (?:ever )?(?:buy|bought|order|ordered|purchase|purchased) "
            rf"(?={NAME})(.+?)(?: from us)?(?: before)?\W*$"
        ),
        r"are there any orders from \1 for \2",
    ),
)
