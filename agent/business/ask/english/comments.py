"""What people say of their own asking, not of what they ask: “honestly”, “out of curiosity”, “all told”.

Words that also say how something was done or how often (“quickly”, “again”, “together”) are none of them; those here are passed over
only where they comment on a whole question: before it, behind it, or before the word that asks.
"""

from agent.business.ask.english.blocks import Forms

_ALWAYS = (
    "honestly|frankly|anyway|anyhow|by the way|btw|fyi|asap|as soon as (?:possible|you can)|for (?:the record|context|my report)"
    "|(?:just )?out of (?:pure |sheer )?(?:curiosity|interest)|to be (?:honest|precise|exact|clear)|(?:roughly|strictly) speaking"
    "|as far as (?:we|you) know|if any"
)
_SET_OFF = "basically|essentially|apparently|obviously|incidentally|ideally|folks|guys|cheers|just (?:curious|wondering|checking)"
_FIRST = "um+|uh+|erm|hmm+|yeah|remind me(?: again)?|(?:a )?quick (?:one|check)|(?:one|another) (?:more |last |quick )?(?:thing|question)"
_BEFORE_ASKING = "roughly|approximately|basically|essentially|exactly|precisely|actually|really"
_IN_ALL = "all told|all in all|taken together|put together|in aggregate|collectively"
_ANYWHERE = (
    "across the board|worldwide|as (?:it stands|things stand)|on our (?:side|end|part)|at our end"
    "|in (?:the|our) (?:whole|entire) (?:company|system|database|shop|store|catalogue|catalog|range)"
)

COMMENTS: Forms = (
    (rf"^\W*(?:(?:{_ALWAYS}|{_SET_OFF}|{_FIRST})\b[\s,:!.…–-]*)+(?=\w)", ""),
    (rf"(?<=\w)[,.;:?!…–-]*\s*\b(?:{_ALWAYS})\W*$", ""),
    (rf"(?<=\w)\s?[,.;:?!…–-]+\s*(?:{_SET_OFF})\W*$", ""),
    (rf"\b(?:{_BEFORE_ASKING}) (?=(?:how many|how much|what|which|who|when)\b)", ""),
    (rf"^(.+?),? (?:{_ANYWHERE})\W*$", r"\1"),
    (rf"^(?!.*\b(?:and|or)\b)(.+?),? (?:{_IN_ALL})\W*$", r"\1"),  # nothing else is taken together
)
