"""Django settings for all places, by subject. What differs between places is in `config.py`; these files read nothing else."""

from copilot_site.settings.api import *
from copilot_site.settings.base import *
from copilot_site.settings.files import *
from copilot_site.settings.logs import *
from copilot_site.settings.mail import *
from copilot_site.settings.parts import *
from copilot_site.settings.product import *
from copilot_site.settings.queues import *
from copilot_site.settings.security import *
from copilot_site.settings.services import *
from copilot_site.settings.sign_in import *
