"""Where a thing or a person is found, and whom to ask there."""

from agent.business.ask.english.blocks import END, NAME, OUR, WHICH, Forms

PLACES: Forms = (
    # how to reach somebody
    (
        f"^(?:how can (?:i|we)|how do (?:i|we)) (?:reach|contact|call) (.+?) by (phone|email){END}",
        r"what is the \2 of \1",
    ),
    (
        (
            "^(?:what|which) (?:phone )?number (?:do|should|can) (?:i|we) (?:call|dial|ring|use) (?:for"
            f"|to reach) (.+?){END}"
        ),
        r"what is the phone of \1",
    ),
    (
        (
            "^(?:under|at|on) (?:what|which) (phone|email)(?: number| address)? can (.+?) be (?:reached|contacted"
            f"|called){END}"
        ),
        r"what is the \1 of \2",
    ),
    (
        (
            "^whom? (?:do|should|can|could|must) (?:i|we|you) (?:talk to|speak to|speak with|contact|call"
            f"|write to|get in touch with) (?:at|from|of) (.+?){END}"
        ),
        r"who is the contact of \1",
    ),
    # where it is
    (
        f"^where (?:is|are) ({NAME}[^?]*?) (?:based|located|situated|headquartered){END}",
        r"what is the city and country of \1",
    ),
    (
        rf"^(which|what) (\w+) is ({NAME}.+?) (?:part of|listed under|filed under|listed in){END}",
        r"which \2 does \3 belong to",
    ),
    (
        rf"^(?:under|in|within) {WHICH} (\w+) (?:is|are) (.+?) (?:listed|filed|grouped|classified|sold){END}",
        r"which \1 does \2 belong to",
    ),
    (
        rf"^{WHICH} (?:product )?(\w+) does (.+?) (?:fall under|come under|sit in|fall into|go under){END}",
        r"which \1 does \2 belong to",
    ),
    # what is in it
    (
        rf"^what is (?:in|on) {OUR}(.+? playlist)\W+(?:just|only) the (?:track|song) (?:names|titles){END}",
        r"which tracks are in the \1",
    ),
    # who delivers it
    (f"^(?:from whom|who) do we (?:buy|get|source|order|purchase) ({NAME}.+?)(?: from)?{END}", r"who supplies \1"),
    (r"\bwhich (?:company|firm) (?=(?:supplies|delivers|provides)\b)", "which supplier "),
)
