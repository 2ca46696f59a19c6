"""Claims made from questions and answers: what verify learns of names and numbers that were changed.

    supports    the statement made of question and answer, with the passage or sentence that answers
    refutes     the same with its answer changed (changed_answers.py), and the same evidence
    not_enough  either of them, with a passage or sentence of the same article that is silent on it

Some are put as users put them ("Actually, it was built in 1998"), some are denied ("was not built"): in
all three classes alike, so that a wording is no sign of a label.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from agents.base.sentences import sentences
from stores.words.lexical import tokens
from training.examples.changed_answers import Answers, changed, kind_of
from training.examples.example import Example, Part, answer_spans, part_of
from training.examples.pairs import Corpus, Question, read_corpus, read_questions
from training.templates.statements import Statement, statement

SUPPORTS, REFUTES, NOT_ENOUGH = 0, 1, 2
SILENT_SHARE = 0.8  # of statements that also come with silent evidence
_SPOKEN_SHARE, _DENIED_SHARE, _CONTRASTED_SHARE = 0.35, 0.08, 0.06
_SPOKEN = (
    "Actually, {}",
    "No, {}",
    "That's wrong, {}",
    "That is not right. {}",
    "I think {}",
    "I think that {}",
    "I believe {}",
    "I'm fairly sure that {}",
    "I'm pretty sure {}",
    "I heard that {}",
    "I read that {}",
    "As far as I know, {}",
    "For the record, {}",
    "Please note that {}",
    "You should know that {}",
    "Well, {}",
    "My teacher told me that {}",
    "It is a fact that {}",
)


def statement_claims(data: Path, part: Part, *, seed: int) -> Iterator[Example]:
    """Claims of SQuAD's articles: train and calibration of its training set, test of its dev set."""
    stem = "dev" if part == "test" else "train"
    questions = read_questions(data / f"squad/{stem}.jsonl.gz")
    corpus = read_corpus(data / f"squad/passages_{stem}.jsonl.gz")
    if part != "test":
        questions = [q for q in questions if part_of(q.key, has_test_file=True) == part]
    answers = Answers()
    for question in questions:
        answers.add(question.article, question.text, question.answers[0])
    rng = random.Random(f"{seed} {part} statements")
    rng.shuffle(questions)
    for question in questions:
        said = statement(question.text, question.answers[0])
        if said is not None:
            yield from _of_statement(question, said, corpus, answers, rng)


def _of_statement(
    question: Question, said: Statement, corpus: Corpus, answers: Answers, rng: random.Random
) -> Iterator[Example]:
    passage = corpus.by_id[question.passage_ids[0]].text
    others = answers.like(question.article, question.text, question.answers[0], passage, rng)
    named = f"{said.before} {said.after}"  # "the other finalist besides X was X" is no false statement
    fit = [other for other in others if other not in named]
    wrong = changed(said.answer, question.answers, fit, passage, rng)
    if wrong is None or not answer_spans(passage, question.answers):
        return
    source = "squad_phrases" if kind_of(said.answer) == "phrase" else "squad_entities"
    evidence = _evidence(question, passage, rng)
    silent = _silent(question, said, passage, corpus, rng) if rng.random() < SILENT_SHARE else None
    wanted = [(SUPPORTS, evidence), (REFUTES, evidence)]
    if silent is not None:
        wanted.append((NOT_ENOUGH, silent))
    for label, text in wanted:
        claim = claim_of(said, wrong, label, rng)
        yield Example(claim, text, verify=label, source=source, key=question.key)


def claim_of(said: Statement, wrong: str, label: int, rng: random.Random) -> str:
    """The statement in one of the ways people put it, true, false, or either as the label wants.

    said: with the right answer. wrong: the other answer.
    """
    is_true = rng.random() < 0.5 if label == NOT_ENOUGH else label == SUPPORTS
    stated, other = (said.answer, wrong) if is_true else (wrong, said.answer)
    chance = rng.random()
    if chance < _DENIED_SHARE and (denied := _denied(said.within_sentence(other))):
        text = denied
    else:
        text = said.within_sentence(stated)
        if chance > 1 - _CONTRASTED_SHARE and not said.after:
            text = f"{text}, not {other}"
    return spoken(text, rng)


def spoken(text: str, rng: random.Random, *, share: float = _SPOKEN_SHARE) -> str:
    """A statement as people type it: with words before it, without its stop, in small letters, or as it is.

    text: as it stands within a sentence, without its stop. share: of those that get words before them.
    """
    form = rng.choice(_SPOKEN) if rng.random() < share else "{}"
    if form.startswith("{") or ". {" in form:
        text = text[0].upper() + text[1:]
    text = form.format(text) + ("" if rng.random() < 0.25 else ".")
    return text.lower() if rng.random() < 0.12 else text


def _denied(text: str) -> str | None:
    """The sentence with "not" behind its first form of "be", if it has one."""
    if len(re.findall(r"\b(?:is|was|are|were)\b", text)) != 1:
        return None
    return re.sub(r"\b(is|was|are|were)\b", r"\1 not", text)


def _evidence(question: Question, passage: str, rng: random.Random) -> str:
    """The passage, or the one sentence of it that answers, if that shares words with the question."""
    if rng.random() < 0.6:
        return passage
    pieces = sentences(passage)
    holding = [i for i, piece in enumerate(pieces) if answer_spans(piece.text, question.answers)]
    asked = set(tokens(question.text))
    shared = {i: len(asked & set(tokens(pieces[i].text))) for i in holding}
    if not shared or max(shared.values()) < 2 or len(asked) > 3 * max(shared.values()):
        return passage
    best = max(shared, key=lambda i: shared[i])
    first = max(0, best - rng.randint(0, 1))
    return passage[pieces[first].start : pieces[best].end]


def _silent(
    question: Question, said: Statement, passage: str, corpus: Corpus, rng: random.Random
) -> str | None:
    """Text near the answer that does not hold it: of the same passage, of the article, or of another."""
    chance = rng.random()
    if chance < 0.35:
        pieces = [piece.text for piece in sentences(passage)]
        fit = [text for text in pieces if not _may_tell(text, question, said)]
        if fit:
            return rng.choice(fit)
    if chance < 0.85:
        same = corpus.of_article[question.article]
        for other in rng.sample(same, min(len(same), 10)):
            if other.id not in question.passage_ids and not _may_tell(other.text, question, said):
                return other.text
    for place in corpus.search.ranked(said.text, 10):
        other = corpus.passages[place]
        if other.article != question.article and not _may_tell(other.text, question, said):
            return other.text
    return None


def _may_tell(text: str, question: Question, said: Statement) -> bool:
    """Whether a text holds the answer, or nearly all words of what is asked."""
    if answer_spans(text, question.answers) or len(text) < 30:
        return True
    asked = set(tokens(f"{said.before} {said.after}"))
    return bool(asked) and len(asked & set(tokens(text))) > 0.8 * len(asked)
