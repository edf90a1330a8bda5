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
NEITHER_DATA_NOR_DOCUMENTS = _("The business data cannot answer this, and your documents do not say it either.")
NOT_HELPED_WITH = _(
    "I cannot help with that. I answer questions about documents and data you can read, and I change nothing."
)
NOT_IN_TABLES = _("The chosen tables do not answer this. Ask in other words, or choose other tables, or none.")
NOTHING_IN_SCOPE = _("You can read nothing in the chosen scope. Choose another one, or none.")
ASKABLE_FOLDERS = _("These folders may have it. You can ask for access: %(names)s.")
LIMIT_CAME_FIRST = _("The search stopped at a limit. A narrower question may help.")
RIGHTS_CHANGED = _("Your access changed while this was answered. Ask again.")
QUOTED_AS_WRITTEN = _("Without a language model, quotes stay in the language of their documents.")
READ_AS = _("I read it as: %(question)s")

# --- questions back -----------------------------------------------------------------------------------------------------
WHO_I_AM = _("I answer from documents and data you can read, and show my sources.")
LOST_THREAD = _("I lost the thread. Could you ask that as a full question?")
WHICH_READING = _("What do you mean?")
ASK_A_QUESTION = _("What would you like to know? Ask a full question.")
MAY_I_CALL = _("I would like to use “%(tool)s”, a tool outside the company. May I?")
ALLOWED = _("Yes, this once.")
ABOUT_A_DOCUMENT = _("What does “%(title)s” say?")

# --- what was done differently ------------------------------------------------------------------------------------------
LEFT_OUT_BY_RIGHTS = _("Your access changed while this was answered; parts that depended on it were left out.")
MODEL_UNUSABLE = _("The language model needs an administrator's attention. Until then, answers are quotations.")
DAY_IS_SPENT = _("Today's language model budget is used up, so this answer quotes documents.")
MONTH_IS_SPENT = _("This month's language model budget of “%(unit)s” is used up, so this answer quotes documents.")
MODEL_LIMIT = _("The limit for language models is reached, so this answer quotes documents.")
MODEL_SILENT = _("The language model is not responding, so this answer quotes documents.")
MODEL_BROKE_OFF = _("The language model broke off. This is the part that arrived.")
NOT_ALL_CHECKED = _("Sentences that could not be checked against their source are marked.")
UNSAID_LEFT_OUT = _("What its sources do not say was left out of the answer.")
OTHER_LANGUAGE = _("The language model did not answer in the language of the question.")
FROM_OUTSIDE = _("What is marked as from outside comes from web pages, not from your company.")
SOURCES_DISAGREE = _("Sources %(one)s and %(other)s disagree.")
SOURCE_UNAPPROVED = _("Source %(numbers)s is not approved yet.")
SOURCES_UNAPPROVED = _("Sources %(numbers)s are not approved yet.")
SEARCH_STOPPED = _("The search stopped at its limit; the answer uses what was found so far.")
DATA_UNREAD = _("The business data cannot answer this: %(why)s")
DATA_SILENT = _("Business data is not available right now: its database does not respond properly.")

# --- how a run ended otherwise ------------------------------------------------------------------------------------------
STOPPED = _("Stopped before the answer was complete.")
FAILED = _("Something went wrong on our side. Your question is kept; ask it again in a moment.")
SERVER_STOPPED = _("The server stopped while answering. Your question is kept; ask it again.")
OVERTAKEN = _("This answer was interrupted. Ask again.")
