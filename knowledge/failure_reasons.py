"""Reasons why a file gave no document, as sentences. Codes are stored; sentences are translated when shown."""


def gettext_noop(text: str) -> str:
    """Mark a sentence for the catalogue of translations; Django stays out of the parsing process."""
    return text


REASONS = {
    "empty": gettext_noop("The file is empty."),
    "unknown_type": gettext_noop("%(extension)s files are not supported. Supported: %(accepted)s."),
    "mismatch": gettext_noop(
        "The name ends in %(extension)s, but the content is not of that type (it looks like %(looks_like)s)."
    ),
    "mismatch_text": gettext_noop("The name ends in %(extension)s, but the content is plain text."),
    "mismatch_unknown": gettext_noop("The name ends in %(extension)s, but the content is not of that type."),
    "encrypted": gettext_noop("The file is protected with a password; remove the password and upload it again."),
    "too_large": gettext_noop("The file has %(size)s MB; at most %(limit)s MB are accepted."),
    "too_many_pages": gettext_noop("The file has %(count)s pages; at most %(limit)s are accepted."),
    "too_many_cells": gettext_noop("The file has more than %(limit)s cells; split it into smaller files."),
    "far_cell": gettext_noop(
        "The sheet “%(sheet)s” spans %(rows)s rows and %(columns)s columns; delete the far cells and upload it again."
    ),
    "too_many_pixels": gettext_noop("A picture has %(size)s million pixels; at most %(limit)s million are accepted."),
    "zip_entries": gettext_noop("The file holds %(count)s parts; at most %(limit)s are accepted."),
    "zip_size": gettext_noop("The file unpacks to %(size)s MB; at most %(limit)s MB are accepted."),
    "zip_ratio": gettext_noop(
        "A part of the file is compressed %(ratio)s times; ordinary documents stay below %(limit)s."
    ),
    "zip_names": gettext_noop("The file holds a part with a forbidden name."),
    "doctype": gettext_noop("The file holds a document type declaration, which documents of this type never have."),
    "too_deep": gettext_noop("The page nests elements more than %(limit)s deep."),
    "too_much_text": gettext_noop(
        "The file holds more than %(limit)s characters of text; split it into smaller files."
    ),
    "damaged": gettext_noop("The file is damaged or not a valid %(format)s file."),
    "encoding": gettext_noop("The text encoding was not recognised; save the file as UTF-8."),
    "time": gettext_noop("Reading the file took longer than %(limit)s seconds."),
    "memory": gettext_noop("Reading the file needs more than %(limit)s MB of memory."),
    "crashed": gettext_noop("The reader stopped on this file (%(detail)s)."),
    "no_text": gettext_noop("No text found in the file."),
    "no_text_in_pages": gettext_noop("No text found: scanned pages, OCR is off."),
    "no_text_in_pictures": gettext_noop("No text found, nor in the pictures of its pages."),
    "only_hidden_text": gettext_noop("All text of the file is hidden: a reader who opens it sees none."),
    "unexpected": gettext_noop("Something went wrong on our side (%(error)s); see the log. The file is kept."),
    "gave_up": gettext_noop("Gave up after %(count)s attempts (%(error)s). Try again, or ask your administrator."),
}
