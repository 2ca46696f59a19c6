"""The named features of relevance, in words; apart from what computes them, since lists load no numpy."""

from __future__ import annotations

from collections.abc import Mapping

FEATURES: Mapping[str, str] = {  # name, and how a person is told of it; each is -1 to 1
    "judged": "how the reader judged it",
    "found": "the search score",  # 0 to 1 over the candidates
    "judged_surely": "how surely the reader judged it",  # log-odds, cut off at 5 and divided by that
    "unjudged": "that nobody judged it",
    "judged_first": "its place among what was judged",  # 1 / rank
    "found_first": "its place in the search",  # 1 / rank
    "meaning": "its meaning",  # cosine, 0 to 1 over the candidates
    "meaning_first": "its place by meaning",  # 1 / rank
    "words": "its words",  # BM25, 0 to 1 over the candidates
    "words_first": "its place by words",  # 1 / rank
    "shared_words": "how many of the question's words it has",  # a share
    "lift": "what stands beside it",  # what its neighbours lent it, at most 1
    "length": "its length",  # logarithm of the words, 1 from 200 on
    "kept": "that it is kept as a memory",
    "named": "who says it",  # the question names its speaker
    "reply": "that it replies to a question",
    "time": "that it tells a time",  # where the question wants one
    "session": "how much was found where it stands",  # a share of the search scores, without its own
    "beside": "how what stands beside it was judged",  # the better neighbour among the candidates
}
NAMES = tuple(FEATURES)
