"""How people put what they know into a talk: the wordings of simulated feedback.

{said} is a statement as it stands within a sentence, without its stop; {question} and {answer} are for what
no statement can be made of. None of them asks for anything.
"""

from __future__ import annotations

STATED = (
    "{Said}.",
    "By the way, {said}.",
    "I read that {said}.",
    "I just learned that {said}.",
    "Oh, and {said}, in case that helps.",
    "Just so you know, {said}.",
    "Fun fact: {said}.",
    "I was reading about this on the train, and it turns out that {said}.",
    "As far as I know, {said}.",
    "Actually, {said}.",
    "No, {said}.",
    "For your information, {said}.",
    "We talked about it over lunch, and {said}.",
    "I think {said}.",
    "I'm pretty sure that {said}.",
    "Interesting. {Said}, by the way.",
    "I looked it up yesterday: {said}.",
    "You may want to know that {said}.",
    "Before I forget, {said}.",
    "It rained all day here, so I read a bit. {Said}.",
    "That reminds me that {said}.",
    "Thanks! {Said}, as I found out.",
    "I had forgotten, but {said}.",
    "My notes from school say so too: {said}.",
)

ASIDES = (
    'I read that the answer to "{question}" is {answer}.',
    'By the way, the answer to "{question}" is {answer}.',
    'I looked it up: the answer to "{question}" is {answer}.',
    'Somebody put it to me at dinner: "{question}" The answer is {answer}.',
    'On the train I came across "{question}" and the answer is {answer}.',
    'In our quiz the right answer to "{question}" was {answer}.',
)

# Others, which the rules of the summarizer were not measured on at first. They know eight of the thirteen
# statements by now: a figure taken since no longer tells how the rules do on what nobody foresaw.
HELD_OUT_STATED = (
    "Turns out {said}.",
    "{Said}, if I remember rightly.",
    "We had this at school: {said}.",
    "A quick search tells me that {said}.",
    "I saw a programme about it, and apparently {said}.",
    "While cooking I heard on the radio that {said}.",
    "I'd always wondered, and now I know: {said}.",
    "Small detail: {said}.",
    "It says in my old encyclopedia that {said}.",
    "One thing I picked up on holiday is that {said}.",
    "{Said}, just so it's on record.",
    "Well, since we are at it, {said}.",
    "The way I understand it, {said}.",
)

HELD_OUT_ASIDES = (
    'Regarding "{question}", the answer is {answer}.',
    '"{question}" I now know the answer: {answer}.',
    'I asked my teacher "{question}" and she told me the answer was {answer}.',
    'We wondered "{question}" last night. It is {answer}.',
    'As for "{question}": {answer}.',
    'For the question "{question}" the correct reply is {answer}.',
)

UNRELATED = (
    "I'm having a cup of tea while I read this.",
    "My bicycle has a flat tyre again.",
    "It has been raining here since Tuesday.",
    "The vending machine on our second floor takes coins only.",
    "My sister's new flat has a balcony.",
    "I prefer short answers in the evening.",
    "Our neighbour's cat sleeps on our doormat.",
    "I have to call the dentist tomorrow.",
    "The lift in our building is out of order.",
    "I like to work with the window open.",
    "We are painting the kitchen green this weekend.",
    "My train was twenty minutes late this morning.",
    "The bakery around the corner closes at noon on Wednesdays.",
    "I have started to learn the accordion.",
    "My desk is next to the printer.",
    "Our choir meets on Thursday nights.",
    "I keep my spare keys in a blue jar.",
    "The soup at the canteen was too salty today.",
    "My nephew collects bottle caps.",
    "I always forget where I parked.",
    "The hedge behind our house needs trimming.",
    "My alarm clock runs four minutes fast.",
    "Our team moved its weekly meeting to room 12.",
    "I bought a second pair of reading glasses.",
    "The coffee machine in the hallway was repaired last week.",
)
