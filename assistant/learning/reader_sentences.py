"""Sentences of a user: what sort learns from.

    world     statements made of questions and answers, claims, sentences of passages, templates
    personal  templates, and what tells a habit or a taste in dialogues
    nothing   questions, templates, and what asks or agrees in dialogues

Sort must go by what is said. So all three come with "I" and without, with the same words before them, with
and without a stop, and in small letters.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from agents.sentences import sentences
from assistant.learning import other_templates, personal_templates
from assistant.learning.dialogue_turns import keeps_nothing, tells_a_taste, turns
from assistant.learning.english_forms import DETERMINERS, PREPOSITIONS
from assistant.learning.example import (
    Example,
    Part,
    interleaved,
    normalised,
    part_of,
    read_records,
)
from assistant.learning.reader_claims import fever_claims
from assistant.learning.reader_pairs import held_out_articles, read_corpus, read_questions
from assistant.learning.sentence_slots import filled
from assistant.learning.statement_claims import spoken
from assistant.learning.statements import statement

WORLD, PERSONAL, NOTHING = 0, 1, 2
OF_A_CLASS = {"train": 15_000, "calibration": 1_000, "test": 3_000}
_FILLINGS = {"train": 90, "calibration": 20, "test": 12}  # of one form of a template

_BEFORE = (
    "By the way, {}",
    "Just so you know, {}",
    "FYI {}",
    "Also, {}",
    "Well, {}",
    "Actually, {}",
    "Remember that {}",
    "Please remember that {}",
    "Note that {}",
    "I should mention that {}",
    "I think {}",
    "Hello, {}",
    "Ok, {}",
    "Yes, {}",
    "No, {}",
    "As I said, {}",
)
_BEFORE_REQUESTS = (
    "By the way, {}",
    "Also, {}",
    "Well, {}",
    "Actually, {}",
    "Hello, {}",
    "Ok, {}",
    "Yes, {}",
    "No, {}",
)
_OPENERS = (
    DETERMINERS
    | PREPOSITIONS
    | set("it he she they there many most some much one two both all such".split())
    | set("although while because however when if".split())
)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours|I'm|I've|I'd)\b", re.IGNORECASE)

Stream = tuple[float, Iterator[Example]]


def user_sentences(data: Path, part: Part, *, seed: int) -> Iterator[Example]:
    """Examples of sort, the three classes in turn, made as they are taken."""
    rng = random.Random(f"{seed} {part} sentences")
    classes = (_world(data, part, rng), _personal(data, part, rng), _nothing(data, part, rng))
    streams: dict[str, Stream] = {
        str(label): (1.0, islice(_unrepeated(found), OF_A_CLASS[part])) for label, found in enumerate(classes)
    }
    if part == "test":
        streams["measured"] = (1.0, _measured(data, rng))
    return interleaved(streams)


def held_out_sentences(data: Path) -> Iterator[str]:
    """The sentences that only test files may hold."""
    for record in read_records(data / "statements/test.jsonl.gz"):
        yield record["text"]
    yield from sorted(_persona_sentences(data))


def _persona_sentences(data: Path) -> set[str]:
    return {
        sentence
        for record in read_records(data / "msc_personas/personas.jsonl.gz")
        if record["split"] == "test"
        for said in record["personas"].values()
        if isinstance(said, list)
        for sentence in said
    }


def _world(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    streams: dict[str, Stream] = {
        "squad": (40, _statements(data, "squad", part, rng)),
        "sentences": (20, _passage_sentences(data, part, rng)),
        "fever": (20, _claims(data, part, rng)),
        "templates": (15, _from_templates(other_templates.WORLD, WORLD, part, rng)),
    }
    if part != "calibration":
        streams["nq"] = (5, _statements(data, "nq", part, rng))
    return interleaved(streams)


def _personal(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    told = turns(data, "sgd", part, rng, tells_a_taste, PERSONAL)
    return interleaved(
        {
            "templates": (97, _from_templates(personal_templates.PERSONAL, PERSONAL, part, rng)),
            "dialogues": (3, told),
        }
    )


def _nothing(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    return interleaved(
        {
            "squad": (22, _questions(data, "squad", part, rng)),
            "nq": (8, _questions(data, "nq", part, rng)),
            "boolq": (6, _yes_no_questions(data, part, rng)),
            "sgd": (29, turns(data, "sgd", part, rng, keeps_nothing, NOTHING)),
            "camrest": (3, turns(data, "camrest", part, rng, keeps_nothing, NOTHING)),
            "templates": (32, _from_templates(other_templates.NOTHING, NOTHING, part, rng)),
        }
    )


def _statements(data: Path, name: str, part: Part, rng: random.Random) -> Iterator[Example]:
    """Statements made of questions and answers, put as users put them."""
    for question, answer, key in _asked(data, name, part, rng):
        if answer and (said := statement(question, answer)):
            text = _put(said.within_sentence(said.answer), WORLD, rng)
            yield Example(text, sort=WORLD, source=f"{name}_statements", key=key)


def _questions(data: Path, name: str, part: Part, rng: random.Random) -> Iterator[Example]:
    for question, _, key in _asked(data, name, part, rng):
        text = question.strip()
        text = text.rstrip("?") if rng.random() < 0.2 else text
        yield Example(
            text.lower() if rng.random() < 0.2 else text, sort=NOTHING, source=f"{name}_questions", key=key
        )


def _asked(data: Path, name: str, part: Part, rng: random.Random) -> list[tuple[str, str, str]]:
    """Question, first answer and key of the questions of one part, in seeded order."""
    test = "dev" if name == "squad" else "test"
    found = read_questions(data / name / f"{test if part == 'test' else 'train'}.jsonl.gz")
    held_out = frozenset() if part == "test" else held_out_articles(data)
    kept = [
        (q.text, q.answers[0] if q.answers else "", q.key)
        for q in found
        if part == "test" or (part_of(q.key, has_test_file=True) == part and q.key not in held_out)
    ]
    rng.shuffle(kept)
    return kept


def _yes_no_questions(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    found = [
        (r["question"], normalised(r["passage"].split(" -- ")[0]))
        for r in read_records(data / "boolq/dev.jsonl.gz")
    ]
    found = [(q, key) for q, key in found if part_of(key, has_test_file=False) == part]
    rng.shuffle(found)
    for question, key in found:
        text = question if rng.random() < 0.5 else question[0].upper() + question[1:] + "?"
        yield Example(text, sort=NOTHING, source="boolq_questions", key=key)


def _claims(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    found = [(claim.text, claim.key) for claim in fever_claims(data, part)]
    rng.shuffle(found)
    for text, key in found:
        said = _put(_within(text.rstrip(".")), WORLD, rng, plainly=0.7)
        yield Example(said, sort=WORLD, source="fever", key=key)


def _passage_sentences(data: Path, part: Part, rng: random.Random) -> Iterator[Example]:
    """Sentences of articles, as somebody may paste them."""
    corpus = read_corpus(data / f"squad/passages_{'dev' if part == 'test' else 'train'}.jsonl.gz")
    fit = [p for p in corpus.passages if part in ("test", part_of(normalised(p.article), has_test_file=True))]
    for passage in rng.sample(fit, len(fit)):
        said = rng.choice(sentences(passage.text)).text
        if 5 <= len(said.split()) <= 30 and said[-1] == "." and not _FIRST_PERSON.search(said):
            text = _put(_within(said[:-1]), WORLD, rng, plainly=0.8)
            yield Example(text, sort=WORLD, source="squad_sentences", key=normalised(passage.article))


def _from_templates(
    families: Mapping[str, Sequence[str]], label: int, part: Part, rng: random.Random
) -> Iterator[Example]:
    """Every form of the part's families, filled again and again, in seeded order."""
    held_out = personal_templates.HELD_OUT | other_templates.HELD_OUT
    calibration = personal_templates.CALIBRATION | other_templates.CALIBRATION
    chosen = [
        (family, form)
        for family, forms in families.items()
        if part == ("test" if family in held_out else "calibration" if family in calibration else "train")
        for form in forms
    ]
    for _ in range(_FILLINGS[part]):
        rng.shuffle(chosen)
        for family, form in chosen:
            said = filled(form, rng)
            text = _put(said.rstrip("?"), label, rng, stop="?" if said.endswith("?") else ".")
            yield Example(text, sort=label, source="templates", key=f"template {family}")


def _put(text: str, label: int, rng: random.Random, *, stop: str = ".", plainly: float = 0.55) -> str:
    """A sentence as it is typed; nearly the same ways for every class.

    text: as it stands within a sentence, without its stop. plainly: the share that is left as it is.
    """
    chance = rng.random()
    if chance > plainly + 0.25 and label == WORLD:
        return spoken(text, rng, share=1.0)
    if chance > plainly:
        text = rng.choice(_BEFORE_REQUESTS if label == NOTHING else _BEFORE).format(text)
    text = text[0].upper() + text[1:] + (stop if rng.random() < 0.7 else "")
    if rng.random() < 0.25:
        text = text.lower()
    return text.replace("'", "") if rng.random() < 0.05 else text


def _within(text: str) -> str:
    """A sentence as it stands after other words, as far as its first word tells."""
    return text[0].lower() + text[1:] if text.split()[0].lower() in _OPENERS else text


def _unrepeated(found: Iterable[Example]) -> Iterator[Example]:
    seen: set[str] = set()
    for example in found:
        said = normalised(example.first)
        if said and said not in seen:
            seen.add(said)
            yield example


def _measured(data: Path, rng: random.Random) -> Iterator[Example]:
    """Sets that are only measured on: the statements' test part and persona sentences."""
    labels = {"preference": PERSONAL, "personal_fact": PERSONAL, "world_fact": WORLD, "question": NOTHING}
    found: list[Example] = []
    for record in read_records(data / "statements/test.jsonl.gz"):
        source = f"statements_{record['source']}"
        # a question after a sentence about oneself is both
        if record["label"] == "question" and len(sentences(record["text"])) > 1:
            source += "_mixed"
        found.append(Example(record["text"], sort=labels[record["label"]], source=source, key=record["id"]))
    known = {normalised(example.first) for example in found}
    fresh = sorted(sentence for sentence in _persona_sentences(data) if normalised(sentence) not in known)
    found += [
        Example(s, sort=PERSONAL, source="msc_personas", key=s)
        for s in rng.sample(fresh, min(1000, len(fresh)))
    ]
    rng.shuffle(found)
    return iter(found)
