"""Sentences that say a fact of the world without a data set behind it, and some that say nothing to keep.

Families as in personal_templates.py. World facts here are plain and many have no name in them; to keep
nothing of are chatter, requests, and questions, also about oneself.
"""

from __future__ import annotations

from assistant.learning.sentence_slots import families

HELD_OUT = frozenset(
    """
    nature_facts sport_results software_facts wishes_of_help disagreement doubts self_questions_held_out
    """.split()
)
CALIBRATION = frozenset("law_facts smalltalk_day".split())

WORLD = families(
    """
    opening_hours: the {place} in {city} opens at {time} | the {place} in {city} is closed on {day}s |
        entry to the {place} costs {number} | the {place} in {city} was built in {year} | the {city}
        {place} reopened in {month} {year} | the next train to {city} leaves at {time} | the bus from
        {city} to {city} takes {small} hours | there is a new {shop} next to the {place}
    city_facts: {city} has about {number},000 inhabitants | {city} lies {number} kilometres from {city} |
        {city} is bigger than {city} | it rains more in {city} than in {city} | the mayor of {city} is
        called {name} {surname} | rents in {city} rose by {small} percent in {year} | the {ordinal}
        largest company of {city} makes {device}s | in {city} most people speak {language}
    people_facts: {name} {surname} is the director of the {place} in {city} | {name} {surname} won the
        election in {year} | {name} {surname} wrote a book about {topic} | the new head of the bank is
        {name} {surname} | {name} {surname} was born in {city} in {year} | {name} {surname} is {job} and
        lives in {city} | Professor {surname} teaches {subject} in {city} | Dr {surname} discovered a new
        kind of {plant} in {year}
    science_facts: a {thing} loses energy over time | a {thing} is heavier than a {thing} | the first
        {thing} was described in {year} | water boils at {number} degrees at high pressure | {topic} is
        taught in most schools | sound travels faster in water than in air | iron rusts when it gets wet |
        {food} contains a lot of vitamin B | people with {illness} should not take aspirin | too much salt
        is bad for the heart | {illness} is more common in older people
    law_facts: the speed limit in the city is {number} km/h | shops may not open on {day}s in that country
        | the law on {device}s changed in {year} | you need a visa to travel to that country | a passport
        is valid for ten years
    culture_facts: {music} became popular around {year} | {cuisine} cooking uses a lot of {food} |
        {language} has more speakers than {language} | the {instrument} has been played for centuries |
        {sport} was invented in the nineteenth century | the {genre} film won the prize in {year} |
        {faith} holidays are often in {month} | the {car} was first sold in {year}
    health_facts: {food} may lower the risk of {illness} | {food} is bad for people with {illness} |
        walking every day helps against {illness} | washing hands prevents many infections | the new
        vaccine protects for {small} months | {illness} cannot be cured with {food} | masks reduce the
        spread of the flu | sleep is important for the immune system | {illness} runs in families
    plain_truths: the sun rises in the east | wood floats on water | prices went up in {month} | winters
        are long in the north | there are {number} pages in the book about {topic} | {subject} deals with
        many open questions | old houses are hard to heat | children learn languages faster than adults |
        most {device}s are made in Asia | {car}s use less fuel than trucks | he has been the mayor since
        {year} | she wrote the song in {year} | they won the {sport} match in {city} | it was founded by
        {name} {surname} | {music} has its roots in {city} | coffee has been grown there since {year} |
        dogs can hear higher tones than people | cats sleep for most of the day | a {pet} needs fresh
        water every day
    nature_facts: an {animal} can live for {number} years | the {animal} hunts at night | a {plant} needs
        a lot of water | most {animal}s live in groups | the {plant} came to Europe in the sixteenth
        century | some {animal}s can see in the dark
    sport_results: the {sport} team from {city} won the cup in {year} | {name} {surname} holds the record
        in {sport} | the {sport} final was played in {city} | {city} beat {city} three to one on {day} |
        the next world championship in {sport} is in {city}
    software_facts: {tool} was first released in {year} | version {small} of {tool} dropped support for
        old machines | {tool} is faster than {tool} for large files | the new {device} has {number} GB of
        memory | {tool} is free for students
    """
)

NOTHING = families(
    """
    greetings: hi | hello | hello there | hey | good morning | good evening | hi there, how are you? |
        hey, what's up? | hello again | nice to meet you | I'm back | good to see you | bye | goodbye |
        see you later | good night | talk to you tomorrow | have a nice day | happy {day}
    thanks: thanks | thank you | thanks a lot | thank you so much for your help | great, thanks | perfect,
        thank you | that helped, thanks | ok thanks | cheers | thanks, that's all I wanted to know | much
        appreciated | that's exactly what I needed | I appreciate it | thanks for the explanation of
        {topic}
    reactions: ok | okay, got it | I see | interesting | wow | haha | lol that's funny | hmm | hm, let me
        think | cool | really? | are you sure? | yes | no | yes please | no thanks | sure | maybe | right
        | of course | sounds good | never mind | oh, I didn't know that | that makes sense | good point |
        fair enough | wait | one moment | I get it now | that is what I thought
    instructions: summarise {text} | translate {text} into {language} | please translate that to
        {language} | write a poem about {topic} | make it shorter | explain {topic} to me | tell me about
        {topic} | tell me more about {topic} | give me three examples | list the main points of {text} |
        search for {topic} | look up {name} {surname} | compare {topic} and {topic} | find me a recipe
        with {food} | write an email to {name} | fix the spelling in {text} | show me the sources | go on
        | try again | start over | say that again in simpler words | use fewer words this time | set a
        reminder for {time} | play some {music} | check {text} for mistakes | forget what I said | delete
        that | rewrite {text} in a friendlier tone | turn {text} into a table | convert {number} miles to
        kilometres | help me with {subject} | draft a letter to the {place} | suggest a name for a {pet} |
        recommend a {genre} film
    polite_requests: can you explain {topic}? | could you tell me more about {topic}? | could you please
        check {text} | would you mind repeating that? | I'd like to know more about {topic} | I would like
        to know when {topic} was first described | I want to understand {topic} | I want to know how
        {topic} works | I have a question about {topic} | I need some information on {topic} | I need you
        to summarise {text} | I'd like you to translate {text} | I was wondering how {topic} works | I'm
        looking for information about {topic} | I'm curious about {topic} | let's talk about {topic} |
        please help me with {text} | can I ask you something? | I'm trying to find out what {topic} means
        | do you have anything on {topic}? | may I ask about {topic}
    self_questions: where do I live? | what is my {relative}'s name? | what's my {pet} called? | do you
        remember my name? | when is my birthday? | what did I tell you about my {relative}? | do you know
        where I work? | what do you know about me? | am I allergic to {allergen}? | can I eat {food}? |
        should I learn {language} or {language}? | what should I cook for my {relative}? | which {device}
        should I buy? | what could I give my {relative} for his birthday? | how do I get rid of {illness}?
        | how can I get better at {sport}? | did I mention my {car}? | what was my budget again? | when is
        my appointment? | is my {pet} too old for a long trip? | where did I go in {month}? | what's the
        best way for me to get to {city}?
    questions: who is {name} {surname}? | how far is {city} from {city}? | what time does the {place} in
        {city} open? | how many people live in {city}? | why do {animal}s live in groups? | what is the
        difference between {tool} and {tool}? | is {food} healthy? | which {instrument} is the easiest to
        learn? | when was {topic} discovered? | how does a {thing} work? | what do you think of {topic}? |
        how do you cook {food}? | what's the weather like in {city}? | can {animal}s swim? | and in
        {city}? | what about {year}? | why? | how so? | who else? | since when?
    about_the_assistant: you're very helpful | that's a great answer | your answer is too long | you
        didn't answer my question | that was not my question | you are wrong | that's wrong | that's not
        right | I don't think that's right | are you a robot? | what can you do? | who made you? | you
        already said that | can you search the web? | that's not what I asked | you misunderstood me |
        that answer helped | good answer
    smalltalk_day: what a day | let's get started | let's continue | so, where were we? | back to {topic}
        | anyway, next question | ok, another one | guess what
    wishes_of_help: I could use some help with {text} | maybe you can help me with {topic} | I hope you
        can answer this | give me a hand with {text} | help me understand {topic} | walk me through
        {topic}
    disagreement: I doubt that | that can't be true | this doesn't look right to me | no, that is not what
        I meant | I'm not convinced | please check that again
    doubts: I'm not sure I understand | I don't get it | I have no idea | I don't know | could be | who
        knows | not really
    self_questions_held_out: have I told you about my {relative}? | how old is my {relative}? | what was
        the name of my old boss? | what kind of music do I like? | which language am I learning? | remind
        me what I said about {city}? | is it safe for me to eat {food}? | would I enjoy {hobby}?
    """
)
