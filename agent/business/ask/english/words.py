"""Words of English that say how a question is put, besides those in `function_words`."""

from agent.business.ask.words.kinds import Kind

ENGLISH_PHRASES: dict[Kind, str] = {
    Kind.STOP: (
        "my; mine; ours; myself; of all time; all time; all-time; ever since; completely; entirely; fully; totally; literally; "
        "simply; presently; nowadays; these days; today's; as of today; as of now; until now; up to now; till now; up until now; "
        "to this day; thus far; is it; was it; are they; were they; the ones; those ones; in the end; at all; ones; "
        "at our disposal; kindly; in general; generally; there is; "
        "there are; there were; there was; that is; that are; that was; that were; who was; who were; which was; which were; "
        "who has; who have; that has; that have; which has; which have; that had; who had; which had; and their; and its; "
        "turns out; it is; whatsoever; onto; upon; per se; for us; with us; to us; from us; by us; of ours; "
        "in terms of; with regard to; regarding; concerning; as regards; when it comes to"
    ),
    Kind.LIST: (
        "give me a list of; show a list of; get me; fetch; print; return a list of; give an overview of; an overview of; "
        "overview of; what are all; what are all the; identify; "
        "could you list; can you show; full list of; complete list of; the list of; names of all; the names of"
    ),
    Kind.FILLED: "on file; on record",
    Kind.MAX: "the most recent; the most recently; very latest; very last",
    Kind.MIN: "very first; the least recent; least recent; the least recently; least recently",
    Kind.SUM: "combined; summed up; grand total; the grand total; the sum of; the total of; total of",
    Kind.AVG: "the average of; average of; the mean of; mean of; on an average",
    Kind.GROUP: "one line per; one row per; a line per; a row per; one figure per; separately by; per each; for each and every",
    Kind.COUNT: "the count of; what number of; tally of; the tally of",
    Kind.NOT: "can not; will not; would not; could not; should not; devoid of; none of",
    Kind.SHARE: "what share of; what percentage of; what proportion of; what fraction of; how big a share of; how large a share "
    "of; which share of",
    Kind.DESCENDING: (
        "from largest to smallest; from biggest to smallest; largest to smallest; biggest to smallest; highest to lowest; most to least; "
        "from most expensive to cheapest; in decreasing order; decreasing; from best to worst; best first; from top to bottom"
    ),
    Kind.ASCENDING: (
        "from smallest to largest; smallest to largest; lowest to highest; least to most; from cheapest to most expensive; in increasing "
        "order; increasing; from worst to best; from a to z; a to z; from oldest to newest; oldest to newest"
    ),
}  # fmt: skip
