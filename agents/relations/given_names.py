"""Given names that many people have: whoever says "I meant Paula" hardly means a town.

Not those that are as often places: Austin, Charlotte, Florence, Sydney, Victoria.
"""

from __future__ import annotations

_GIVEN = frozenset(
    (
        "aaron abdul abigail adam adele adrian agnes ahmed aisha alan albert alejandro alessandro alex "
        "alexander alexandra alfred ali alice alicia alison amanda amelia amina amy ana anders andrea "
        "andreas andrew angela anita ann anna anne annika anton antonio anya arthur astrid aurora "
        "barbara bart beatrice becky ben benjamin bernard bert bertha beth bianca bill bob boris brenda "
        "brian bridget bruno camilla carla carlos carmen carol caroline catherine cecilia charles "
        "chiara chloe chris christian christina christine christopher claire clara claudia colin "
        "cynthia daniel daniela daniele dave david dean deborah denis denise diana diego dieter dirk "
        "dominic donald doris dorothy edgar edith eduardo edward elena eli elias elisa elise elizabeth "
        "ella ellen emil emilia emily emma eric erik erika ernest esther eva evelyn fabian fatima felix "
        "fiona frances francesca francesco francis francisco frank franz fred frederick gabriel "
        "gabriela gareth gary george gerald gerard giovanni giulia gloria grace graham greg gregory "
        "greta gunther gustav hanna hannah hans harold harry hassan heather heidi heinz helen helena "
        "helga henri henrik henry herbert hilda hugo ian ibrahim ida igor ilse ines ingrid irene iris "
        "irma isabel isabella ivan jack jacob jakob james jan jana jane janet janice jason javier jean "
        "jennifer jeremy jerry jessica jill jim joan joanna joe johan johanna john jonas jonathan jorge "
        "jose josef joseph juan judith julia julian julie jurgen karen karin karl kate katharina "
        "katherine kathleen katie keith kelly ken kenneth kevin kim klaus kurt lara lars laura lauren "
        "lea lena leo leon lewis liam lily linda lisa liz lotte louis louise luca lucas lucia lucy "
        "luigi luis luisa lukas luke lydia magda magnus manuel marc marcel marco marcus margaret maria "
        "mariam marie marion mark markus marta martha martin martina mary matilda matt matteo matthew "
        "matthias max maximilian megan melanie mia michael michelle miguel mike miriam mohamed mohammed "
        "monica monika muhammad nadia nancy naomi natalia natalie natasha neil nell nicholas nick "
        "nicole nigel nina noah nora norbert olaf ole olga oliver olivia omar oscar oskar otto pablo "
        "pamela patricia patrick paul paula pauline pedro peter petra phil philip pierre piet pieter "
        "rachel rafael ralph raymond rebecca renate richard rita rob robert roberto robin roger roland "
        "rolf ron ronald rosa rose rosemary ruben rudolf ruth ryan sabine sally sam samantha samir "
        "samuel sandra sara sarah sebastian sergio sharon silvia simon sofia sofie sonia sophia sophie "
        "stefan stefanie stella stephanie stephen steve steven sue susan susanne sven svetlana tanja "
        "tanya tara teresa theo theresa thomas tim timothy tina tobias tom tomas tony tracy ulrich "
        "ulrike ursula uwe vanessa vera veronica vicky victor viktor vincent viola walter wanda wendy "
        "werner wilhelm will william willy wolfgang yasmin yusuf yvonne zoe"
    ).split()
)


def is_given_name(name: str) -> bool:
    """Whether the first word of a name is a given name that many people have."""
    return name.casefold().partition(" ")[0] in _GIVEN
