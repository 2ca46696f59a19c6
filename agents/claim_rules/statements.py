"""Which sentences of a message state something, in whose name, and without what leads into them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agents.claim_rules.answers_given import answer_given, with_its_question
from agents.claim_rules.clipped import clips, is_own_profile
from agents.claim_rules.corrections import right_words
from agents.claim_rules.doubts import Doubt, doubt
from agents.claim_rules.emphasis import without_emphasis
from agents.claim_rules.lead_ins import tells_hearsay, without_endings, without_filler, without_leads
from agents.claim_rules.moods import is_mood
from agents.claim_rules.own_material import after_its_lead
from agents.claim_rules.own_part import mixes_scripts, own_part, plain_text
from agents.claim_rules.remarks import denies_the_answer, is_trouble, names_what_is_broken
from agents.claim_rules.requests import asks_to_forget, is_order_to_do, is_standing_wish
from agents.claim_rules.speaker import is_of_the_user
from agents.claim_rules.suppositions import is_aim, supposition
from agents.claim_rules.takeovers import is_about_memory, is_labelled, is_takeover
from agents.sentences import is_question, sentences
from stores.lexical import tokens

MOST_CLAIMS = 8  # of the world, of one message; what users say of themselves has no other bound than the next
LONGEST_CLAIM = 400  # characters
MOST_STATEMENTS = 32  # of one message that are looked at: more is a pasted text
_LONGEST_SENTENCE = 600  # characters, lead-in included
_I = re.IGNORECASE


class Statement(NamedTuple):
    """A sentence in which the user states something."""

    text: str  # plain, without what leads into it
    quote: str  # the whole sentence as it stands in the message
    before: str  # the sentence before it in the message; empty for the first
    is_hearsay: bool = False
    is_wish: bool = False  # how the assistant is to behave towards this user from now on
    is_told: bool = False  # the user asked for it to be remembered
    is_right_words: bool = False  # only what should have stood in what was told last: "I meant 4231"
    doubt: Doubt | None = None  # in which the user says it; the text is without it
    is_clipped: bool = False  # said of nobody: "Based in Ghent, two kids."


_MATERIAL_NOUN = (
    r"(?:e?mails?|letter|text|article|passage|document|message|post|paragraph|page|quote|poem|story|code|log|"
    r"notes?|transcript|report|review|chat|conversation|draft|essay|translation|results?|output|sentence|"
    r"following|contract|advert|description|biography|bio(?= ?:))"
)
_HANDS_OVER = re.compile(
    r"(?:(?:can|could|would|will) you |please |now |and |then |kindly )*(?:(?:translate|summari[sz]e|"
    r"proofread|rewrite|rephrase|paraphrase|correct|check|fix|review|edit|shorten|simplify|explain|"
    r"analy[sz]e|spell-?check|format|convert|continue|improve|read)\b[^\n]{0,80}?(?::|\b(?:this|following|"
    r"below)\b)"
    rf"|(?:here|below|this|the|following|i (?:got|received|wrote|found)|my|from|"
    rf"see)\b[^\n:]{{0,80}}\b{_MATERIAL_NOUN}\b[^\n:]{{0,60}}:(?:\s|$))",
    _I,
)


def statements(message: str) -> Iterator[Statement]:
    """What the user states in a message, in its order, at most MOST_STATEMENTS."""
    if "\u202d" in message or "\u202e" in message:
        return  # these turn letters round: it does not say what it shows
    plain = without_emphasis(plain_text(message))
    before, last, found, is_quoting = (
        "",
        "",
        0,
        False,
    )  # what was stated before; the sentence before, as it is
    is_handed_over = False
    said_in_it = sentences(own_part(plain.text))
    is_profile = is_own_profile([sentence.text for sentence in said_in_it])
    for sentence in said_in_it:
        if len(sentence.text) > _LONGEST_SENTENCE:
            before = ""
            continue
        own = after_its_lead(sentence.text)
        is_handed_over = is_handed_over or own is not None
        text = sentence.text if own is None else own
        if _HANDS_OVER.match(text) or is_about_memory(text):
            return  # the rest is what is handed over, or ordered
        opens = re.sub(r'\d"', "", sentence.text).count('"') % 2 == 1
        is_quoted, is_quoting = is_quoting or opens, is_quoting != opens
        quote = plain.original(message, sentence.start, sentence.end)
        if (is_profile or is_handed_over) and not is_quoted and not mixes_scripts(quote):
            at = sentence.end - len(text)
            parts = clips(text, is_led=is_handed_over)[: MOST_STATEMENTS - found]
            for part in parts:
                own_words = plain.original(message, at + part.start, at + part.end)
                is_clipped = not is_handed_over
                yield Statement(part.said, own_words, before, is_told=True, is_clipped=is_clipped)
                before = part.said
            found += len(parts)
            if parts:
                last = sentence.text
                if found == MOST_STATEMENTS:
                    return
                continue
        said, last = with_its_question(text, last), sentence.text
        stated = None if is_quoted or mixes_scripts(quote) else stated_in(said)
        if stated is not None and is_handed_over and not _is_ones_own(stated):
            stated = None
        if stated is not None:
            yield stated._replace(quote=quote, before=before)
            found += 1
            if found == MOST_STATEMENTS:
                return
        before = stated.text if stated else said


def _is_ones_own(stated: Statement) -> bool:
    """Whether a statement of handed-over material speaks of its user, in their own name."""
    return is_of_the_user(stated.text) and not (stated.is_hearsay or stated.is_wish or stated.is_told)


_SPEAKER = re.compile(r"[A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30}){0,2}:\s")
_HYPOTHESIS = re.compile(
    r"\b(?:would|could|might) be\b.*\bif\b|\bif\b.*\b(?:would|could|might|were)\b|\b(?:would|could|"
    r"might)\b.*\bif\b|\b(?:maybe|perhaps|possibly|probably|presumably|might|i guess|i suppose|i doubt|i bet|"
    r"i wonder|not sure|"
    r"unsure|no idea|hypothetical(?:ly)?|what if|would have|could have|as if)\b",
    _I,
)
_WISH = re.compile(
    r"^(?:(?:i|we)(?:'m| am| are|'re)? (?:really |just |also |still |do )*(?:hope|hoping|wish|can't wait|"
    r"cannot wait|look(?:ing)? forward|was wondering|wonder|want (?:you )?to (?:know|ask|understand|hear|see|"
    r"learn more|find out)|need (?:you|to know|help|an?|some|your|more)|want (?:an?|some|you|more|your)|"
    r"am looking for|'m looking for|looking for|would like|'d like|'d love to (?:know|hear)|have (?:a|"
    r"another|one|some) (?:more )?questions?)|i'd (?:like|love) (?:an?|some|to|you|your|more)|(?:i|we)(?:'m|"
    r" am|'re| are|'ve been|'ll| will| was| were| could| should) (?:also |really |just |still |particularly |"
    r"now |definitely |always |then |currently |actually |a bit )*(?:looking|considering|thinking|feeling|"
    r"curious|wondering|hoping|excited|leaning|ready|glad|happy|sorry|sure|check|look|give|try|start|think|"
    r"see|let you|could|should|be happy|interested in (?:improving|learning|knowing))|(?:i|we) (?:really |"
    r"also )*(?:want something|(?:like|love) (?:the idea|that|this|your|it)|was thinking|(?:agree|see|"
    r"understand)(?: that| what| why| how| your|[.!]))|the (?:\w+ )?answer (?:is|to|was)|hopefully|"
    r"fingers crossed|looking forward|let(?:'s| us| me)|may (?:the|all|your|you)|wish (?:me|us|"
    r"i)|hope)\b",
    _I,
)
_COMPARED = re.compile(
    r"\bI(?:'d| would) (?:rather|prefer|like)\b.*\b(?:than|to|over|instead)\b|\bI'd rather\b", _I
)
_OWN_CLAUSE_OF_QUESTION = re.compile(
    r"(?:(?:since|because|as|given that|now that|seeing that) )?((?:I|I'm|I've|My|We|We're|We've|"
    r"Our)\b[^?;:]{3,200}?)(?:,|;| [-–—])\s*(?:(?:and|so|but) )?(?:what|which|how|where|when|who|why|can|"
    r"could|should|do|does|is|are|will|"
    r"would|any|i was wondering|i wonder|i'm wondering)\b[^?]{3,}\?$",
    _I,
)
_PUT_ON_A_LIST = re.compile(
    r"(?:please |also |and |can you |could you )*(?:add|put) (?P<items>(?!(?:this|that|it|"
    r"the following)\b)[^:?]{2,100}?) "
    r"(?:to|on|onto) (?P<whose>my|our) (?P<list>(?:[\w-]+ ){0,2}list)(?:,? (?:please|too|as well))?[.!?]*$",
    _I,
)
_UNMARKED = re.compile(r"\b[iI](m|ve)\b")  # im, ive


def stated_in(sentence: str, *, as_right_words: bool = True) -> Statement | None:
    """What one plain sentence states; None for all else. Its quote is left empty.

    as_right_words: one that may give the right words alone is taken to; else it is read like any other.
    """
    text = _UNMARKED.sub(lambda match: f"I'{match[1]}", " ".join(sentence.split()))
    if asks_to_forget(text) or is_takeover(text) or "](" in text or text.startswith('"'):
        return None
    if denies_the_answer(text) or (is_trouble(text) and names_what_is_broken(text)):
        return None
    if put := _PUT_ON_A_LIST.match(text):
        listed = f"{put['whose'].capitalize()} {put['list']}: {put['items']}."
        return Statement(listed, "", "", is_told=True)
    if as_right_words and right_words(text):
        return Statement(text, "", "", is_right_words=True)
    thought = doubt(without_filler(text))
    lead = without_leads(text if thought is None else thought.said)
    if lead is None:
        return None
    text, is_hearsay, is_told, is_certain = lead
    if not is_certain and is_question(text):
        clause = _OWN_CLAUSE_OF_QUESTION.match(text)
        if clause is None:
            return None
        text = f"{clause[1]}."
    text = text.rstrip("?") if is_certain else text
    answered = answer_given(text)
    is_hearsay = is_hearsay or tells_hearsay(text if answered is None else text.partition('"')[0])
    if answered is not None:
        return Statement(answered, "", "", is_hearsay, doubt=thought)
    if is_hearsay and '"' in text:
        return None
    text = without_endings(text)
    if _SPEAKER.match(text) or is_labelled(text) or not _states(text):
        return None
    if is_mood(text) and not is_told:
        return None
    is_wish = is_standing_wish(text)
    if not is_wish and (is_order_to_do(text) or _WISH.match(text)) and not _COMPARED.search(text):
        return None
    if not is_wish and supposition(text) is not None and not is_aim(text):
        return None
    text = text[0].upper() + text[1:] + ("" if text[-1] in ".!…" else ".")
    if len(text) > LONGEST_CLAIM:
        return None
    return Statement(text, "", "", is_hearsay, is_wish, is_told, doubt=thought)


_PLAINLY_SAID = re.compile(
    r"(?!(?:how|what|where|when|why|who|whose|which|whether|if|is|are|was|were|do|does|did|has|have|had|can|"
    r"could|will|would|should|things|ways|reasons|meaning|difference|list|all)\b)(?:(?:it|he|she|they|there|this|"
    r"that)(?:'s|'re)|i(?:m|ve) (?:on|an?|at|not|from|so|very|just|got|been|\w+ing|\w+ed)|"
    r"(?:(?!(?:who|that|which) )[\w'-]+ ){1,4}?(?:is|are|was|were|has|have|had|isn't|aren't|wasn't|"
    r"doesn't|didn't|"
    r"don't|can't|won't|will|lives|works|runs|closes|opens|starts|begins|ends|leaves|arrives|costs|likes|loves|"
    r"hates|wants|needs|plays|eats|drinks|moved|called|sold|bought|got|left|joined|became|means)) "
    r"[\w'-]+(?!.*\b(?:by|from|of|with|for|to|in)\W*$)",
    _I,
)


def is_plainly_said(sentence: str) -> bool:
    """Whether a sentence tells something, however it is written: "mia is 9 and ben is 12".

    By a few verbs: bare words are mostly looked up.
    """
    return (
        not (is_question(sentence) or is_order_to_do(sentence))
        and _PLAINLY_SAID.match(sentence.strip()) is not None
    )


def _states(text: str) -> bool:
    """Whether there is something said in these words at all, and it is not imagined."""
    return len(text.split()) > 1 and bool(tokens(text)) and not _HYPOTHESIS.search(text)
