"""The forms of English verbs that turning a question into a statement needs: by table and rule, no model."""

from __future__ import annotations

# base form, past, participle; only where a rule does not give them
_IRREGULAR = """
arise arose arisen|be was been|bear bore born|beat beat beaten|become became become|begin began begun
bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|break broke broken
bring brought brought|build built built|burn burned burned|buy bought bought|cast cast cast
catch caught caught|choose chose chosen|come came come|cost cost cost|cut cut cut|deal dealt dealt
dig dug dug|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found|flee fled fled
fly flew flown|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen|get got gotten
give gave given|go went gone|grow grew grown|hang hung hung|have had had|hear heard heard
hide hid hidden|hit hit hit|hold held held|hurt hurt hurt|keep kept kept|know knew known|lay laid laid
lead led led|leave left left|lend lent lent|let let let|lie lay lain|lose lost lost|make made made
mean meant meant|meet met met|overcome overcame overcome|overtake overtook overtaken
overthrow overthrew overthrown|pay paid paid|put put put|read read read|ride rode ridden|rise rose risen
run ran run|say said said|see saw seen|seek sought sought|sell sold sold|send sent sent|set set set
shake shook shaken|shoot shot shot|show showed shown|shut shut shut|sing sang sung|sink sank sunk
sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|split split split
spread spread spread|stand stood stood|steal stole stolen|strike struck struck|sweep swept swept
swear swore sworn|swim swam swum|take took taken|teach taught taught|tear tore torn|tell told told
think thought thought|throw threw thrown|undergo underwent undergone|understand understood understood
undertake undertook undertaken|wear wore worn|win won won|withdraw withdrew withdrawn
write wrote written|rebuild rebuilt rebuilt|withstand withstood withstood
"""
_REGULAR = """
abandon abolish absorb accept accuse achieve acquire act adapt add address admit adopt advance advocate
affect agree aid air aim allow announce appear apply appoint approve argue arrange arrest arrive ask
assassinate assist assume attack attempt attend attract award ban base battle believe belong block bomb
borrow broadcast call cancel capture carry cause cede celebrate change charge circle claim climb close
collapse collect combine commission commit compare compete complete compose conclude conduct confirm
connect conquer consider consist construct contain continue contract contribute control convert convince
cooperate cover create criticize cross cultivate debut decide declare decline decrease dedicate defeat
defend define deliver demand deny depict deploy derive describe design destroy determine develop devise
die direct disappear discover discuss display dissolve divide divorce dominate donate double drop earn
elect eliminate embrace emerge employ enable encounter encourage end endorse enforce enjoy enter equal
escape establish estimate evolve examine exceed execute exist expand expect experience explain explore
export express extend face fail favor feature fill film finance finish fire focus follow force form
found function fund gain generate govern grant graduate guide hail handle happen headline help hire
honor host house identify ignore immigrate implement import impose improve include incorporate increase
indicate influence inform inhabit inherit initiate insist inspire install instruct intend introduce
invade invent invest investigate invite involve issue join judge kill label lack land last launch learn
legalize license limit link list live locate look love maintain manage manufacture march marry
mass-produce mature measure mention merge migrate mint move murder name need note notice number nominate
observe obtain occupy occur offer open operate oppose order organize originate orbit oversee own paint
participate pass patent peak perform permit persuade place plan play point possess practice praise
predict prefer prepare present preserve prevent proclaim produce prohibit promise promote propose
prosecute protect protest prove provide publish purchase pursue push qualify question raise rank reach
realize receive recognize recommend record recruit reduce refer reform refuse regain reject relate
release relocate rely remain remove rename renounce replace report represent request require resemble
reside resign resist respond restore restrict result resume retain retire return reveal revolt reward
rule sail sample save score secede secure seize select separate serve settle share shift sign specialize
sponsor start state stay stop store strengthen study submit succeed sue suffer suggest supply support
surpass surrender survive suspect switch symbolize talk target tend terminate test total touch tour
trace track trade train transfer transition translate transmit transport travel treat try turn use
utilize vary view visit vote wait walk want warn weigh welcome work worry yield
"""
_DOUBLED = frozenset(
    """
    admit ban commit control drop occur permit plan prefer refer stop submit transfer
    """.split()
)
ALSO_NOUNS = frozenset(
    """
    act aid air attack ban base battle bomb call change claim contract control demand design display
    drop end equal export face fight fire focus force form function fund guide help host house import
    influence issue label lack land launch limit link list march match measure move murder name need
    note number offer order paint patent place plan play point practice present protest question rank
    record reform release report request result return reward rule sail share shift show sign sponsor
    star start state study supply support target test total tour trade train transfer transport travel
    treat use view visit vote work
    """.split()
)
_NOT_PARTICIPLES = frozenset(
    """
    red hundred need speed seed indeed bed breed led-zeppelin shed sacred wicked naked feed hatred
    kindred exceed proceed succeed embed weed creed greed bleed ninety-hundred seabed deed reed infrared
    wed sped
    """.split()
)

AUXILIARIES = frozenset(
    """
    is was are were did does do has have had can could will would should may might must
    """.split()
)
MODALS = frozenset("can could will would should may might must".split())
BE = frozenset("is was are were".split())
DO = frozenset("did does do".split())
ADVERBS = frozenset(
    """
    first originally then finally also officially still usually often initially last not
    """.split()
)
PREPOSITIONS = frozenset(
    """
    about above across after against along alongside among around as at before behind below beneath
    beside between beyond by despite during except for from in inside into like near of off on onto over
    per since than through throughout to toward towards under until unto up upon via with within without
    """.split()
)
DETERMINERS = frozenset(
    """
    a an the this that these those its his her their our my your each every some
    """.split()
)
PREDICATE_ADJECTIVES = frozenset(
    """
    able available responsible famous active popular common present similar important native equal
    capable necessary unable legal illegal visible free married
    """.split()
)


def _past(verb: str) -> str:
    if verb in _DOUBLED:
        return verb + verb[-1] + "ed"
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def _third_person(verb: str) -> str:
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


_FORMS = {
    entry.split()[0]: entry.split()[1:]
    for line in _IRREGULAR.split("\n")
    for entry in line.split("|")
    if entry
}
PAST = {verb: forms[0] for verb, forms in _FORMS.items()} | {verb: _past(verb) for verb in _REGULAR.split()}
PAST |= {"broadcast": "broadcast"}
THIRD = {verb: _third_person(verb) for verb in PAST if verb != "be"}
_PARTICIPLES = frozenset(forms[1] for forms in _FORMS.values()) - {"become", "come", "run", "read", "cast"}
_FINITE = (frozenset(PAST.values()) | frozenset(THIRD.values())) - {
    "states",
    "sets",
    "lands",
    "works",
}


def _ends_regularly(word: str) -> bool:
    return word.endswith("ed") and word.islower() and "-" not in word and word not in _NOT_PARTICIPLES


def is_base_form(word: str) -> bool:
    """Whether a word is a verb as it stands after "did"."""
    return word in PAST and word != "be"


def is_participle(word: str) -> bool:
    """Whether a word can follow "was" as a participle; capitalised words are names."""
    return word in _PARTICIPLES or _ends_regularly(word)


def is_finite(word: str) -> bool:
    """Whether a word is a main verb that a subject can stand before: "wrote", "writes"."""
    return word in _FINITE or _ends_regularly(word)
