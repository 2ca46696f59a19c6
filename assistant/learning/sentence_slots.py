"""How sentence templates are written down, and what their slots are filled with."""

from __future__ import annotations

import random
import re


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", " ").split(",") if part.strip())


SLOTS: dict[str, tuple[str, ...]] = {
    "food": _words(
        """
        pizza, sushi, mushrooms, olives, broccoli, cheese, pasta, curry, cilantro, eggs, seafood,
        lentils, chocolate, ice cream, rice, tofu, spinach, pancakes, sausages, avocado, yoghurt,
        oatmeal, liver, blue cheese, noodles, beans
        """
    ),
    "cuisine": _words(
        """
        Italian, Thai, Indian, Mexican, Greek, Ethiopian, Korean, French, Japanese, Turkish, Lebanese,
        Vietnamese, Spanish, Polish, Persian, Peruvian
        """
    ),
    "diet": _words("vegetarian, vegan, lactose intolerant, gluten-free, pescatarian, diabetic"),
    "allergen": _words(
        """
        peanuts, nuts, shellfish, pollen, cats, penicillin, milk, wheat, strawberries, dust, bee stings,
        eggs, latex
        """
    ),
    "music": _words(
        """
        jazz, heavy metal, classical music, hip hop, techno, country music, opera, folk, reggae, punk,
        blues, K-pop, baroque music, indie rock, salsa
        """
    ),
    "genre": _words(
        """
        horror, science fiction, romantic, historical, crime, fantasy, spy, war, detective, western
        """
    ),
    "colour": _words(
        """
        blue, green, red, dark blue, purple, yellow, black, grey, orange, pink, turquoise, brown
        """
    ),
    "pet": _words(
        """
        dog, cat, rabbit, parrot, hamster, horse, turtle, goldfish, poodle, ferret, snake, canary
        """
    ),
    "relative": _words(
        """
        mother, father, sister, brother, wife, husband, grandmother, grandfather, uncle, aunt, cousin,
        mum, dad, son, daughter, niece, nephew, partner, mother-in-law, girlfriend, boyfriend, little
        brother, older sister, roommate
        """
    ),
    "child": _words(
        """
        son, daughter, youngest son, oldest daughter, little girl, boy, grandson, granddaughter
        """
    ),
    "name": _words(
        """
        Anna, Tom, Maria, Luca, Emma, Ahmed, Sofia, Noah, Priya, Chen, Olga, Peter, Fatima, Diego,
        Julia, Hans, Aiko, Samuel, Grace, Omar, Ines, Pavel, Nora, Kofi, Lena, Max, Bella, Rosa, Ivan,
        Clara, Yusuf, Mia, Tina, Bruno
        """
    ),
    "surname": _words(
        """
        Schmidt, Garcia, Okafor, Novak, Rossi, Tanaka, Silva, Kowalski, Hughes, Petrov, Larsen, Haddad,
        Moreau, Singh, Becker, Murphy, Kaya, Lindqvist, Costa, Nguyen
        """
    ),
    "job": _words(
        """
        a nurse, a teacher, an engineer, a lawyer, a plumber, an accountant, a software developer, a
        chef, a bus driver, a dentist, an architect, a farmer, a journalist, a librarian, a waiter, a
        police officer, a carpenter, a data analyst, a hairdresser, an electrician, a translator, a
        veterinarian, a pilot, a cashier, a social worker
        """
    ),
    "jobs": _words("teachers, doctors, farmers, musicians, lawyers, nurses, bakers, engineers"),
    "company": _words(
        """
        a hospital, a bakery, a law firm, Siemens, a small start-up, the city council, a bank, IKEA, a
        primary school, an insurance company, Northwind, a hotel, the post office, a university, a
        design agency, Bosch, a call centre
        """
    ),
    "shop": _words("bakery, bookshop, café, hardware store, flower shop, restaurant, garage"),
    "tool": _words(
        """
        Excel, Vim, Python, Emacs, Photoshop, Slack, Notion, Git, Blender, LaTeX, Rust, PostgreSQL,
        Figma
        """
    ),
    "subject": _words(
        """
        physics, history, biology, law, economics, philosophy, mathematics, chemistry, computer science,
        art history, nursing, linguistics, geography, statistics, astronomy, psychology, machine
        learning, music theory
        """
    ),
    "city": _words(
        """
        Berlin, Lyon, Chicago, Osaka, Nairobi, Lisbon, Toronto, Mumbai, Leeds, Seattle, Bogotá, Vienna,
        Istanbul, Cape Town, Melbourne, Oslo, Naples, Houston, Seoul, Kraków, Manila, Dublin, Portland,
        Hanoi, Gdańsk, Denver, Porto, Utrecht
        """
    ),
    "street": _words(
        """
        Park Street, Mill Road, Station Avenue, Lindenstraße, Oak Lane, High Street, Rue Victor Hugo
        """
    ),
    "dwelling": _words(
        """
        small flat, two-bedroom apartment, old farmhouse, studio, terraced house, houseboat, bungalow
        """
    ),
    "room": _words("kitchen, bathroom, living room, bedroom, hallway, cellar, attic, balcony"),
    "sport": _words(
        """
        tennis, football, basketball, chess, volleyball, badminton, hockey, rugby, golf, table tennis,
        cricket
        """
    ),
    "hobby": _words(
        """
        hiking, painting, fishing, photography, knitting, baking, climbing, gardening, swimming,
        birdwatching, dancing, cycling, playing board games, pottery, sailing, skiing, woodworking,
        collecting stamps, writing poems, camping
        """
    ),
    "language": _words(
        """
        German, Spanish, Mandarin, Arabic, Portuguese, French, Japanese, Polish, Hindi, Dutch, Swahili
        """
    ),
    "illness": _words(
        """
        asthma, diabetes, migraines, high blood pressure, arthritis, insomnia, hay fever, a heart
        condition, epilepsy, back problems, anxiety, coeliac disease, tinnitus, ADHD
        """
    ),
    "bodypart": _words("knee, back, shoulder, wrist, left arm, ankle, hip, neck, right leg"),
    "bloodtype": _words("A positive, O negative, B positive, AB"),
    "car": _words(
        """
        Toyota, Fiat, Volvo, Golf, Tesla, pickup truck, van, Honda Civic, camper van, Mini
        """
    ),
    "device": _words(
        """
        laptop, tablet, iPhone, desktop PC, Chromebook, smartwatch, camera, e-reader, MacBook, printer
        """
    ),
    "instrument": _words(
        """
        piano, violin, guitar, drums, flute, cello, trumpet, saxophone, accordion, harp
        """
    ),
    "faith": _words("Catholic, Buddhist, Muslim, Hindu, Protestant, Quaker, atheist, Sikh"),
    "day": _words("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday"),
    "month": _words(
        """
        January, February, March, April, May, June, July, August, September, October, November, December
        """
    ),
    "ordinal": _words("second, third, fourth, fifth, sixth, seventh, ninth"),
    "animal": _words(
        """
        owl, dolphin, elephant, penguin, bat, whale, spider, bear, octopus, camel, hummingbird, wolf
        """
    ),
    "plant": _words(
        """
        tomato, potato, oak, rose, cactus, bamboo, sunflower, fern, olive tree, banana
        """
    ),
    "thing": _words(
        """
        lithium battery, vaccine, steam engine, suspension bridge, black hole, volcano, comet,
        transistor, glacier
        """
    ),
    "place": _words(
        """
        museum, library, town hall, swimming pool, cathedral, railway station, zoo, art gallery,
        stadium, airport
        """
    ),
    "topic": _words(
        """
        the French Revolution, photosynthesis, the Rhine, inflation, the Roman Empire, black holes,
        Nikola Tesla, coral reefs, the Cold War, blockchain, Beethoven, the immune system, plate
        tectonics, the Suez Canal, quantum computers, Kant
        """
    ),
    "text": _words(
        """
        this text, this email, this article, the report, the last paragraph, my notes, this letter, the
        abstract
        """
    ),
}


def families(text: str) -> dict[str, tuple[str, ...]]:
    """Forms by family, of lines `family: form | form`; a line indented deeper goes on with the one before."""
    joined = re.sub(r"\n {5,}", " ", text)
    found: dict[str, tuple[str, ...]] = {}
    for line in joined.strip().splitlines():
        name, _, forms = line.strip().partition(": ")
        found[name] = tuple(form.strip() for form in forms.split(" | "))
    return found


def filled(template: str, rng: random.Random) -> str:
    """The template with every slot filled; two slots of a name get different values."""
    used: set[str] = set()

    def value(slot: re.Match[str]) -> str:
        for _ in range(5):
            chosen = _value(slot[1], rng)
            if chosen not in used:
                break
        used.add(chosen)
        return chosen

    text = re.sub(r"\{(\w+)\}", value, template)
    return re.sub(r"\b([Aa])n? (?=(\w))", lambda a: f"{a[1]}n " if a[2] in "aeiouAEIO8" else f"{a[1]} ", text)


def _value(slot: str, rng: random.Random) -> str:
    match slot:
        case "small":
            return rng.choice(("two", "three", "four", "five", "six", "8", "10", "3", "7", "12"))
        case "number":
            return str(rng.choice((rng.randint(11, 99), rng.randint(100, 999), 10 * rng.randint(100, 400))))
        case "year":
            return str(rng.randint(1958, 2025))
        case "age":
            return str(rng.randint(13, 88))
        case "time":
            return rng.choice(
                (
                    f"{rng.randint(5, 11)} am",
                    f"{rng.randint(1, 10)} pm",
                    f"{rng.randint(6, 22)}:{rng.choice(('00', '15', '30', '45'))}",
                )
            )
        case "date":
            day, month = rng.randint(1, 28), rng.choice(SLOTS["month"])
            return rng.choice((f"{month} {day}", f"{day} {month}", f"the {day}th of {month}"))
        case _:
            return rng.choice(SLOTS[slot])
