"""What is missing, was never done, or is left out."""

from agent.business.ask.english.blocks import BOUGHT, Forms

ABSENCE: Forms = (
    # not yet
    (r"\b(?:that )?(?:we have )?on file,? but never\b", "never"),
    (r"\b(?:is|are) no longer (?=(?:used|in use)\b)", "are not "),
    (r"\b(?:is|are|have|has) (?:still )?yet to be (\w+)", r"have not been \1"),
    (r"\b(?:is|are|have|has) (?:still )?yet to ship\b", "have not been shipped"),
    (
        (
            r"\b(?:has|have|is|are) (?:still )?yet to (?:order(?: anything)?|place an(?:y)? orders?|buy"
            r"(?: anything)?|purchase(?: anything)?)\b"
        ),
        "never ordered",
    ),
    (
        r"\b(?:still |are |is |currently )*(?:we )?(?:still )?(?:waiting|due|awaiting|pending) to (?:be shipped|ship)\b",
        "not shipped",
    ),
    (r"\bunshipped\b", "not shipped"),
    # empty columns
    (r"^for how many (\w+) do we know (?:the |a |an )?(\w+)", r"how many \1 with a \2"),
    (r"\bwith (?:an? |the )?(\w+) (?:filled in|given|known|set)\b", r"with a \1"),
    (
        (
            r"^for how many (\w+) (?:is|are|do we have|do we not have) (?:the |a |an )?(\w+) (?:is "
            r"|are )?(?:missing|empty|blank|unknown)\b"
        ),
        r"how many \1 without \2",
    ),
    (r"\b(have|has|with) an (?:empty|blank) (\w+)", r"\1 no \2"),
    (
        (
            r"\b(?:where|whose|for which) (?:the |their )?([\w ]+?) (?:is|are) (?:missing|empty|blank|unknown|not (?:known"
            r"|given|set|filled in))\b"
        ),
        r"without \1",
    ),
    # never
    (
        (
            r"\b(?:that |which )?(?:nobody|no one|no customer|no client|none of (?:our|the) (?:customers|clients))"
            rf"(?: has| have)?(?: ever)? ({BOUGHT})\b"
        ),
        r"that were never \1",
    ),
    (
        (
            r"\b((?:do|does|did|has|have|had) not (?:yet )?(?:ever )?(?:\w+ )?)(?:a single|even one|even a single"
            r"|any) (?=\w)"
        ),
        r"\1",
    ),
    (rf"\b{BOUGHT} nothing\b", "did not buy anything"),
    # left out
    (r"^leaving (.+?) aside, (.+?)\W*$", r"\2 excluding \1"),
    (r"\bwithout (?:counting|considering|including)\b", "excluding"),
    (r"\banywhere but\b", "outside"),
    (
        (
            r"\bnot (?:counting|including|considering)\b|\b(?:leave|leaving|left) out\b|\b(?:ignore|ignoring"
            r"|disregarding|skipping|minus(?= (?:the |all |any )?\w+ed\b))\b"
        ),
        "excluding",
    ),
    (
        (
            r"\bexcluding (?:the |all )?(cancel+ed|paid|open|unpaid|closed|finished|paused|retired|discontinued) "
            r"(?:ones|orders)(?=\W*$|,)"
        ),
        r"excluding \1",
    ),
    (
        (
            r"\b(?:excluding|except(?: for)?) (?:the |those |all )?(?:people|employees|staff|ones|those) (?:that"
            r"|who|which)(?: have| has| had| are| were)? (?=\w+(?=\W*$|,))"
        ),
        "excluding ",
    ),
)
