import pytest

from toolkit.data import mask
from toolkit.data.vocabulary import pretrained_vocabulary
from toolkit.data.wordpieces import cut, read_pieces
from toolkit.errors import WarmkitError

PIECES = ["play", "##ing", "##s", "##er", "p", "did", "n", "'", "t", "苹", "."]


def folder_with(tmp_path, text):
    (tmp_path / "vocab.txt").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("play", ["play"]),
        ("players", ["play", "##er", "##s"]),
        ("plough", ["<unk>"]),
        ("n't", ["n", "'", "t"]),
        ("x" * 1000, ["<unk>"]),
    ],
)
def test_a_word_is_cut_into_the_longest_pieces(word, pieces):
    assert cut([word], set(PIECES), "<unk>") == ["[CLS]", *pieces, "[SEP]"]


def test_a_problem_is_read_in_pieces_with_its_numbers_whole(tmp_path):
    vocabulary = pretrained_vocabulary(
        folder_with(tmp_path, "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *PIECES]))
    )
    read = vocabulary.read(mask("12 players didn't play 苹.", "en"))
    assert " ".join(read.tokens) == "[CLS] <num_0> play ##er ##s did n ' t play 苹 . [SEP]"
    assert read.is_number.index(True) == 1 and sum(read.is_number) == 1
    assert vocabulary.words[vocabulary.encode(["##er"])[0]] == "##er"


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path):
    with pytest.raises(WarmkitError, match=r"vocab.txt: there is no such file"):
        read_pieces(tmp_path)
    with pytest.raises(WarmkitError, match=r"it has no \[CLS\]: this is not the vocabulary of a BERT"):
        read_pieces(folder_with(tmp_path, "[PAD]\n[UNK]\n[SEP]\n"))
    with pytest.raises(WarmkitError, match="the same piece twice"):
        read_pieces(folder_with(tmp_path, "[PAD]\n[UNK]\n[SEP]\n[CLS]\na\na\n"))
