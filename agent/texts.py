"""Our own sentences in answers: refusals, questions back, notices; their translations are in `locale/`.

Constants are lazy and translated when turned into text, under `override(run.language)`, because a run has no request.
Texts that belong to one tool are kept with it.
"""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

# --- passages -----------------------------------------------------------------------------------------------------------
BEST_MATCH = _("Best match (not verified):")
NO_ANSWER_IN_WHAT_WAS_READ = _("I found no answer in what I read. These passages come closest:")
FROM_DOCUMENTS = _("From your documents")
FROM_DATA = _("From the business data")
NOTHING_IN_DOCUMENTS = _("I found nothing about this in the documents you can read.")

# --- refusals -----------------------------------------------------------------------------------------------------------
NOTHING_FOUND = ngettext_lazy(
    "I found nothing about this in the %(count)d document you can read.",
    "I found nothing about this in the %(count)d documents you can read.",
    "count",
)
SEARCHED = _("Searched: %(bases)s.")
COMMA = _(", ")  # between names
AND_OTHERS = _("%(names)s and others")
OTHER_WORDS = _("Try other words.")
WHOM_TO_ASK = _("Try other words, or ask %(names)s.")
NEITHER_DATA_NOR_DOCUMENTS = _("I cannot answer this from the business data, and your documents do not say it either.")
NOT_HELPED_WITH = _(
    "I do not help with that: I answer questions about documents and data that you may read, and change nothing."
)
NOT_IN_TABLES = _("The chosen tables do not answer this. Ask in other words, or choose other tables, or none.")
NOTHING_IN_SCOPE = _("There is nothing in the chosen scope that you may read. Choose another one, or none.")
ASKABLE_FOLDERS = _("These folders may hold it, and you may ask for access to them: %(names)s.")
LIMIT_CAME_FIRST = _("A limit was reached before the search was done; a narrower question may help.")
RIGHTS_CHANGED = _("What you may read changed while this was answered. Ask again.")
QUOTED_AS_WRITTEN = _("Without a language model, quotations stay in the language of their documents.")
READ_AS = _("I read: %(question)s")

# --- questions back -----------------------------------------------------------------------------------------------------
WHO_I_AM = _("I answer from the documents and data that you may read, and show what each answer stands on.")
LOST_THREAD = _("I lost the thread. Could you ask that as a full question?")
WHICH_READING = _("What do you mean?")
ASK_A_QUESTION = _("What would you like to know? Ask it in a whole sentence.")
MAY_I_CALL = _("To go on I would use “%(tool)s”, a tool outside the company. May I?")
ALLOWED = _("Yes, this once.")
ABOUT_A_DOCUMENT = _("What does “%(title)s” say?")

# --- what was done differently ------------------------------------------------------------------------------------------
LEFT_OUT_BY_RIGHTS = _("What you may read changed while this was answered; what stood on it was left out.")
MODEL_UNUSABLE = _("The language model cannot be used until an administrator mends it; answers are quotations.")
DAY_IS_SPENT = _("Today's budget for language models is used up; the answer is quoted from documents.")
MODEL_LIMIT = _("A limit for language models is reached; the answer is quoted from documents.")
MODEL_SILENT = _("The language model does not answer now; the answer is quoted from documents.")
MODEL_BROKE_OFF = _("The language model broke off; this is the part of the answer that came.")
NOT_ALL_CHECKED = _("What could not be checked against its source is marked.")
UNSAID_LEFT_OUT = _("What its sources do not say was left out of the answer.")
OTHER_LANGUAGE = _("The language model did not answer in the language of the question.")
FROM_OUTSIDE = _("What is marked as from outside stands on pages of the web, not on what your company knows.")
SOURCES_DISAGREE = _("Sources %(one)s and %(other)s do not say the same.")
SOURCE_UNAPPROVED = _("Source %(numbers)s is not approved yet.")
SOURCES_UNAPPROVED = _("Sources %(numbers)s are not approved yet.")
SEARCH_STOPPED = _("The search was stopped at its limit; the answer stands on what was found so far.")
DATA_UNREAD = _("The business data do not answer this: %(why)s")
DATA_SILENT = _("The business data cannot be asked right now: their database does not answer as it should.")

# --- how a run ended otherwise ------------------------------------------------------------------------------------------
STOPPED = _("Stopped before the answer was complete.")
FAILED = _("Something failed on our side; your question is kept. Ask it again in a moment.")
SERVER_STOPPED = _("The server stopped while this was answered; your question is kept. Ask it again.")
OVERTAKEN = _("This answer was closed before it was complete. Ask again.")
