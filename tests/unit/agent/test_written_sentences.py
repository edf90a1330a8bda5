"""What a model writes, cut into sentences: each with its numbers, and with what sets it off from the one before."""

from agent.attribution.sentences import Sentences

ANSWER = (
    "Leave is granted in two ways [1].\n\n- Employees have 30 days [1].\n- Part-time staff have 15 days [2].\n\n"
    "Both are booked with:\n\n```\nleave book --days 3 [3]\n```\nA manager approves. [1][2] Nobody else does [1]."
)


def cut(text: str, size: int) -> list[tuple[str, str, tuple[int, ...]]]:
    """The sentences of a text that comes in pieces of this size: what sets each off, its words and its numbers."""
    sentences = Sentences()
    found = [one for at in range(0, len(text), size) for one in sentences.take(text[at : at + size])]
    return [(one.gap, one.text, one.numbers) for one in (*found, *sentences.rest())]


def test_paragraphs_items_and_lines_of_code_stay_what_they_are_however_they_are_cut() -> None:
    for size in (1, 7, 1_000):
        assert cut(ANSWER, size) == [
            ("", "Leave is granted in two ways.", (1,)),
            ("\n- ", "Employees have 30 days.", (1,)),
            ("\n- ", "Part-time staff have 15 days.", (2,)),
            ("\n\n", "Both are booked with:", ()),
            ("\n\n    ", "leave book --days 3", (3,)),
            ("\n\n", "A manager approves.", (1, 2)),
            ("", "Nobody else does.", (1,)),
        ], size


def test_rows_of_a_table_are_said_with_its_header_however_they_come() -> None:
    rows = "| City | Limit |\n|---|---|\n| Oslo | 190 [1] |\n| Rome | 160 [2] |\n| Bonn | 120 [1] |"
    table = f"The limits are:\n\n{rows}\n\nNo more is paid [1]."
    for size in (1, 7, len(table)):
        found = cut(table, size)
        assert [(text, numbers) for _gap, text, numbers in found] == [
            ("The limits are:", ()),
            ("City: Oslo; Limit: 190", (1,)),
            ("City: Rome; Limit: 160", (2,)),
            ("City: Bonn; Limit: 120", (1,)),
            ("No more is paid.", (1,)),
        ], size
        assert [gap for gap, _text, _numbers in found[1:4]] == ["\n- "] * 3


CODE = (
    "Roll back **at once** with [1]:\n\n```bash\n# stop the canary\nkubectl rollout undo deploy/<name> --to-revision=items[2]  # [1]\n"
    "for pod in a b; do\n  kubectl delete pod &lt;pod&gt; [2][3]\ndone; [2]\n```\n\nThen **wait** [1]."
)


def test_lines_of_code_are_left_as_they_are_written() -> None:
    for size in (1, 7, 1_000):
        assert cut(CODE, size) == [
            ("", "Roll back at once with:", (1,)),
            ("\n\n    ", "# stop the canary", ()),
            ("\n    ", "kubectl rollout undo deploy/<name> --to-revision=items[2]", (1,)),
            ("\n    ", "for pod in a b; do", ()),
            ("\n      ", "kubectl delete pod <pod>", (2, 3)),
            ("\n    ", "done;", (2,)),
            ("\n\n", "Then wait.", (1,)),
        ], size


STEPS = (
    "To release a service:\n\n1. **Rehearse** the rollback [1].\n2. Get the approval of a reviewer [1]. He may refuse [2].\n"
    "3. Canary: 5 % of the traffic [2]\n\n发布前检查：\n1. 外壳密封，接地电阻不超过 4 欧姆 [3]\n2、固件版本 [3]\n"
)


def test_numbered_steps_stay_whole_with_their_numbers_before_them() -> None:
    for size in (1, 7, 1_000):
        assert cut(STEPS, size) == [
            ("", "To release a service:", ()),
            ("\n1. ", "Rehearse the rollback.", (1,)),
            ("\n2. ", "Get the approval of a reviewer.", (1,)),
            ("", "He may refuse.", (2,)),
            ("\n3. ", "Canary: 5 % of the traffic", (2,)),
            ("\n\n", "发布前检查：", ()),
            ("\n1. ", "外壳密封，接地电阻不超过 4 欧姆", (3,)),
            ("\n2. ", "固件版本", (3,)),
        ], size
