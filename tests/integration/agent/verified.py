"""A small company with a verified answer that stands on two documents of two folders, and people by what they may read."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from agent.models import VerifiedAnswer
from agent.verified_answers.matching import find_verified_answer
from agent.verified_answers.services import KeeperInput, VerifiedSpan, save_verified_text
from authz.permissions import Right
from authz.principal import Principal
from business.models import DataSource
from business.semantic_layer.yaml_io import read_layer
from business.sources.services import save_layer
from knowledge.models import Chunk
from knowledge.retrieval.search import Scope
from tests.factories import allow, make_base, make_document, make_folder, make_user

QUESTION = "How many days of annual leave do I get?"
OTHER = "How much holiday can I take in a year?"
TEXT = "You get 30 days a year. Unused days are paid out in March."
LEAVE, PAY = "Employees have 30 days of annual leave.", "Unused leave is paid out in March."
LAYER = """
name: hr
semantic_models:
- name: absence
  table: absence
  org_unit: {shared_with: everyone}
  entities: [{name: absence, type: primary, expr: id}]
"""


class Company:
    """Base Handbook with the folders Leave and Pay. People: keeper manages and reads both; reader reads both; half reads Leave alone,
    pay Pay alone; blind manages both and reads neither; stranger holds nothing.
    """

    def __init__(self) -> None:
        base = make_base("Handbook")
        self.folder, self.pay_folder = make_folder(base, "Leave"), make_folder(base, "Pay")
        self.leave = make_document(self.folder, "leave.md", f"# Leave\n\n{LEAVE}\n", ingested=True)
        self.pay = make_document(self.pay_folder, "pay.md", f"# Pay\n\n{PAY}\n", ingested=True)
        names = ("keeper", "reader", "half", "pay", "blind", "stranger")
        self.people = {name: make_user(f"the-{name}") for name in names}
        both, view = (self.folder, self.pay_folder), (Right.VIEW,)
        for name, folders, rights in (
            ("keeper", both, (Right.VIEW, Right.MANAGE, Right.CHANGE)),
            ("reader", both, view),
            ("half", both[:1], view),
            ("pay", both[1:], view),
            ("blind", both, (Right.MANAGE,)),
        ):
            for folder in folders:
                allow(self.people[name], folder, *rights)

    @property
    def keeper(self) -> Principal:
        return self.principal("keeper")

    def principal(self, name: str) -> Principal:
        return Principal.of(User.objects.get(pk=self.people[name].pk))

    def passage(self, words: str) -> VerifiedSpan:
        chunk = next(item for item in Chunk.unscoped.filter(is_retired=False) if words in item.text)
        start = chunk.text.index(words)
        return VerifiedSpan(chunk.document_id, chunk.id, start, start + len(words))

    def verify(self, **more: object) -> VerifiedAnswer:
        given = {
            "question": QUESTION,
            "text": TEXT,
            "wordings": [OTHER],
            "passages": [self.passage(LEAVE), self.passage(PAY)],
            **more,
        }
        return save_verified_text(self.keeper, KeeperInput(**given), folder_id=self.folder.pk)  # type: ignore[arg-type]

    def told(self, question: str = QUESTION, *, scope: Scope = Scope()) -> set[str]:  # noqa: B008  # frozen
        """Who is answered with a verified answer."""
        return {name for name in self.people if find_verified_answer(self.principal(name), question, scope)}

    def seen(self) -> set[str]:
        """Whom the rights of the row alone reach."""
        return {name for name in self.people if VerifiedAnswer.objects.visible_to(self.principal(name)).exists()}

    def keep(self, names: Iterable[str] | None = None) -> set[str]:
        """Who finds a verified answer among those they keep."""
        from agent.verified_answers.selectors import managed_answers_of

        return {name for name in names or self.people if managed_answers_of(self.principal(name)).exists()}

    def data_source(self) -> DataSource:
        """A source that nobody may ask yet; nothing answers there."""
        source = DataSource.unscoped.create(name="hr", database="nowhere", is_embedded=True)
        save_layer(None, source, read_layer(LAYER))
        return source
