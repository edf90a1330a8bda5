"""What a thing costs, the dearest and the cheapest."""

from agent.business.ask.english.blocks import CHEAPEST, DEAREST, END, NAME, NUMBER, Forms

PRICES: Forms = (
    (rf"\b{DEAREST}\b", "most expensive"),
    (rf"\b{CHEAPEST}\b", "cheapest"),
    (r"\bhow (?:expensive|dear|pricey) is\b", "what is the price of"),
    (rf"^how much (?:is|are) ({NAME}[\w\x00'-]*(?: {NAME}[\w\x00'-]*)*){END}", r"what is the price of \1"),
    (rf"^(?:what|how much) do we (?:sell|offer) ({NAME}[^,?]*?) for{END}", r"what is the price of \1"),
    (rf"^(?:what|how much) do we (?:charge|ask|take) for (?={NAME})", "what is the price of "),
    (r"\bthe price (?:that )?we (?:charge|ask|take) for\b", "the price of"),
    (
        rf"^(?:at|for) (?:what|which) price (?:is|are|do we (?:sell|offer)) ({NAME}[^,?]*?)(?: (?:listed|sold|offered))?{END}",
        r"what is the price of \1",
    ),
    (rf"\bin the ({NUMBER}) ?(?:to|-|–) ?({NUMBER})(?: price)? range\b", r"costing between \1 and \2"),
    (r"\bwhat do we (?:charge|ask|take) for (?:the|our) (?=most expensive|cheapest)", "what is the price of the "),
    (
        r"^(?=.*\b(?:each|every|per)\b)(.*?)\b(?:price|cost) of (?:the|its|our|their) most expensive (\w+)",
        r"\1highest price of \2",
    ),
    (
        r"^(?=.*\b(?:each|every|per)\b)(.*?)\b(?:price|cost) of (?:the|its|our|their) cheapest (\w+)",
        r"\1lowest price of \2",
    ),
    (
        (
            "^(?:what|how much) (?:does|do|did) (?:the|our|your) (most expensive|cheapest) (.+?) (?:cost|sell for"
            r"|go for)\b"
        ),
        r"which is the \1 \2",
    ),
    (r"^(?:what is |what was )?(?:the )?price of (?:the|our) (most expensive|cheapest) (?=\w)", r"which is the \1 "),
    (r"\bwhat (?:does|do) (it|they) (?:sell|retail|go) (?:for|at)\b", r"what does \1 cost"),
    (r",? and (?:at|for) (?:what|which) price\b", " and what does it cost"),
    (r"\b(?:the )?(?:top|maximum|peak) price\b", "highest price"),
    (
        (
            r"\b(?:sell|sells|retail|retails|go|goes) (?:for|at) (?=(?:between|more|less|over|under|above"
            r"|below)\b)"
        ),
        "cost ",
    ),
    (
        (
            rf"\b(?:for|at|of|range(?: of)?|ranging(?: from)?|cost|costs|priced) (?:from )?({NUMBER}) ?(?:to|up to"
            f"|-|–) ?({NUMBER}){END}"
        ),
        r"costing between \1 and \2",
    ),
    (r"\b(?:price of|prices?|priced at|priced) costing between\b", "price between"),
)
