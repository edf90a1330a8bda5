"""What is in stock, on order, and worth."""

from agent.business.ask.english.blocks import END, NAME, Forms

STOCK: Forms = (
    # on hand, and gone
    (r"\b(?:units|stock|inventory) on hand\b", "stock"),
    (r"\b(?:go|goes|went|gone|going) out (?:of )?the door\b", "were sold"),
    (
        (
            rf"^how (?:many (?:units|pieces|items) of|much) (?:the |our )?(.+?) (?:do we (?:still |currently )?have"
            r"|is|are|is there|are there)"
            rf"(?: still| currently| left)* (?:in stock|in the warehouse)(?:,? in units)?{END}"
        ),
        r"total units in stock of \1",
    ),
    (rf"^(.+?) stock,? in units{END}", r"total units in stock of \1"),
    (r"^which (\w+) have we (?:run|sold) out of\b", r"which \1 are out of stock"),
    (r"\bnot in stock any ?(?:more|longer)\b", "out of stock"),
    (r"\bhow many (?:units|pieces|bottles|boxes|items) of (.+?) (?=(?:are|is|do|have|did)\b)", r"how many \1 "),
    (r"\bnone of in stock\b", "no stock of"),
    (r"\bno longer in stock\b", "out of stock"),
    (r"\b(?:have|has) (?:run out|sold out)\b", "are out of stock"),
    (r"\b(no|zero) (stock|units|inventory) left\b", r"\1 \2"),
    (
        (
            rf"\b(?:do|have) we (?:still )?(?:have |got )?left(?: in stock)?{END}|\b(?:are|is) (?:still "
            f"|there )?(?:left|remaining)(?: in stock)?{END}"
        ),
        "are in stock",
    ),
    (r"\b(?:has|have|with|had) nothing (?:left )?in stock\b", "with no stock"),
    (
        (
            r"\b(?:that |which |who )?(?:with|still have|still has|have|has|having) (?:some |any )?(?:stock"
            r"|inventory)(?: left| remaining| on hand| available)?(?=\W*$| (?:are|is|do|does|in|from|and|but|there"
            r"|by|per)\b)"
        ),
        "in stock",
    ),
    (
        (
            "(?<!stock),? (?:but|and|yet|although|though)(?: they| it)?(?: are| is)? (?=(?:(?:currently"
            r"|now) )?(?:out of stock|in stock|with (?:zero|no|0) (?:stock|units)|have no stock|has no stock)\b)"
        ),
        " ",
    ),
    # on order
    (
        rf"\b(?:that have|which have|with|have|having) (?:any |some )?units on order{END}",
        "with units on order above 0",
    ),
    (rf"\b(?:do|have) we (?:currently |now )?(?:have |got )?on order{END}", "with units on order above 0"),
    (
        (
            "^how many units (?:do we have|are|are there|have we got)(?: still| currently)? in stock(?: in total"
            rf"| altogether| overall| across all \w+)?{END}"
        ),
        "total units in stock",
    ),
    (f"^what does (?:our|the) (stock|inventory) (?:add up|come|amount) to(?: in units| in total)?{END}", r"total \1"),
    (
        (
            rf"^how many ({NAME}[\w\x00'. -]*?) (?:are|is|do we have|have we got|have we|did we)(?: currently"
            r"| still| now)? on order\b(?: at the moment| right now| now| currently)?"
        ),
        r"total units on order of \1",
    ),
    (
        (
            r"^how many (\w+) (?:are|do we have|have we)(?: currently| still| now)? on order\b(?: at the moment"
            "| right now| now| currently)?"
        ),
        r"how many \1 with units on order above 0",
    ),
    (
        (
            r"\b(?:that |which )?(?:are|is|we have|currently)(?: currently| still| now)? on order\b(?=\W*$| (?:at"
            r"|now|right|but|and|from)\b)"
        ),
        "with units on order above 0",
    ),
    (r"\bon order(?=\W*$| (?:at the moment|right now|now|currently)\b)", "onorder"),
    # its worth
    (
        (
            r"\bwhat (?:is|are) (?:all )?(?:of )?(?:our|the|all our|all the) (?:whole |entire |total )?(?:stock"
            r"|inventory)((?: of| in| from) .+?)? worth\b"
        ),
        r"what is the total stock value\1",
    ),
    (
        (
            r"\bvalue of (?:all )?(?:of )?(?:our|the|all our|all the) (?:whole |entire |total )?(?:stock"
            r"|inventory)\b"
        ),
        "stock value",
    ),
)
