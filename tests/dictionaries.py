"""The dictionary, indexed once for all runs of the tests in this checkout."""

from functools import cache

from django.conf import settings

from knowledge.dictionary.cedict import prepare_dictionary
from knowledge.dictionary.words import Dictionary, load_dictionary


@cache
def prepared() -> Dictionary:
    models = settings.HOME.create().models
    prepare_dictionary(models)
    return load_dictionary(models)
