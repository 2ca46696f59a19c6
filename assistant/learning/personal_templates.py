"""Sentences in which people say something about themselves or those around them, as families of forms.

A family is one matter said in several ways; `{slot}` takes a value of sentence_slots.py. Families named
in HELD_OUT or CALIBRATION are never trained on: a test shows new matters and not only new names.
"""

from __future__ import annotations

from assistant.learning.sentence_slots import families

HELD_OUT = frozenset(
    """
    music_making clothes garden fears sleep volunteering neighbours wedding without_i_home coffee
    phone_habits injury answer_language
    """.split()
)
CALIBRATION = frozenset("reading beliefs appearance work_tools".split())

PERSONAL = families(
    """
    food_taste: I love {food} | I really like {cuisine} food | I can't stand {food} | my favourite food is
        {food} | I'm not a big fan of {food} | I never eat {food} | my {relative} and I both love
        {cuisine} cooking | I'd take {food} over {food} any day | nothing beats {food} for me | I usually
        have {food} for breakfast | I prefer {cuisine} restaurants to {cuisine} ones | I like my {food}
        spicy | I hate the taste of {food}
    diet: I'm {diet} | I am {diet} | I've been {diet} for {small} years | my {relative} is {diet} | we're
        a {diet} household | I don't eat meat | I don't drink alcohol | I stopped eating {food} in {year}
        | I try to avoid sugar | I only eat {food} on weekends | I keep kosher | I am {diet}, so keep that
        in mind for recipes | as a {diet} person I read every label
    allergy: I'm allergic to {allergen} | I am allergic to {allergen} | my {relative} has an allergy to
        {allergen} | I get a rash from {allergen} | I have a bad reaction to {allergen} | {name}, my
        {relative}, can't have {allergen} | I carry an EpiPen because of my allergy to {allergen} | I
        can't eat {allergen}, it makes me ill | nobody in our family tolerates {allergen}
    music_taste: I listen to {music} all day | I love {music} | {music} is my favourite kind of music |
        I'm really into {music} these days | I grew up listening to {music} | my {relative} got me into
        {music} | I don't care for {music} at all | I prefer {music} over {music} | I go to {music}
        concerts whenever I can
    films: I'm a huge fan of {genre} films | my favourite films are {genre} films | I've watched every
        {genre} movie there is | {genre} movies bore me | I never watch {genre} movies alone | my
        {relative} and I watch a {genre} film every {day} | I'd rather watch a {genre} series than a film
        | I don't own a television
    colour: my favourite color is {colour} | my favourite colour is {colour} | I always wear {colour} |
        {colour} is my colour | I painted my {room} {colour} | our {room} is {colour}
    pets: I have a {pet} named {name} | I have {small} {pet}s | my {pet}'s name is {name} | my {pet} is
        called {name} | our {pet} {name} is {small} years old | my {relative}'s {pet} is called {name} |
        we adopted a {pet} last {month} | I own a {pet} | {name} is my {pet} | my {pet} doesn't like
        strangers | we used to have a {pet} | I've always wanted a {pet} | the {pet} sleeps in my bed
    family_names: my {relative}'s name is {name} | my {relative} is called {name} | {name} is my
        {relative} | I have a {relative} named {name} | we named our {child} {name} | my {relative} {name}
        lives in {city} | my {relative} turned {age} in {month} | I'm the youngest of {small} siblings | I
        have {small} brothers | I don't have any siblings | my parents got divorced when I was {small} |
        my {relative} passed away in {year} | I grew up with my {relative}
    family_work: my {relative} is {job} | my {relative} works as {job} | my {relative} worked as {job}
        until {year} | my {relative} teaches {subject} in {city} | both my parents were {jobs} | my
        {relative} runs a small {shop} | my {relative} just got a job at {company}
    children: I have {small} kids | our {child} starts school in {month} | my {child} is {small} years old
        | we're expecting a baby in {month} | my {child} plays {sport} on {day}s | my {child} loves {food}
        | I pick up my {child} at {time} | I don't have children | {name}, our {child}, is learning
        {language}
    home_place: I live in {city} | I'm from {city} | I was born in {city} | I grew up in {city} | I moved
        to {city} in {year} | we live just outside {city} | my home town is {city} | I've lived in {city}
        for {small} years | I'm originally from {city} but live in {city} now | we're moving to {city} in
        {month} | my {relative} still lives in {city} | my address is {number} {street}
    home_kind: I live in a {dwelling} | we rent a {dwelling} | I share a {dwelling} with {small} other
        people | I bought a {dwelling} in {year} | my {dwelling} has {small} bedrooms | I live alone | I
        live with my {relative} | our {dwelling} was built in {year} | my landlord lives downstairs | our
        rent is {number} a month
    job: I'm {job} | I am {job} | I work as {job} | I've been {job} for {small} years | I used to be {job}
        | I started as {job} last {month} | I quit my job as {job} | I want to become {job} | I'm retired,
        I was {job} | I make a living as {job} | I'm looking for a new job | I'm unemployed at the moment
        | I got laid off in {month}
    employer: I work at {company} | I work for {company} in {city} | I've been with {company} since {year}
        | my boss is called {name} | my manager {name} is on leave until {month} | our team has {number}
        people | I work from home on {day}s | my office is on the {ordinal} floor | I start work at {time}
        | I get {number} days of holiday a year | {name} is my colleague at {company} | I manage a team of
        {small}
    workplace: our office is on the {ordinal} floor | our stand-up is at {time} every {day} | our company
        has {number} employees | we use {tool} at work | our team meets on {day}s | the wifi password at
        our office is in the {colour} folder | we deploy on {day}s | our fiscal year ends in {month} | the
        printer in our office is broken again | we hired {name} as {job}
    study: I'm studying {subject} at university | I study {subject} in {city} | I have a degree in
        {subject} | I'm in my {ordinal} year of {subject} | I dropped out of university in {year} | I
        failed my {subject} exam | my thesis is about {subject} | I graduated in {year} | my {subject}
        exam is on {day} | {subject} was my worst subject at school | I'm taking an evening class in
        {subject}
    routine: I get up at {time} every day | I usually go to the gym on {day}s | I never work on {day}s | I
        always have lunch at {time} | I do the shopping on {day} | I go for a run every morning | I call
        my {relative} every {day} | on {day}s I cook for my {relative} | I take a nap after lunch | I
        don't read email before {time} | I eat out about {small} times a week | I meditate for {number}
        minutes every day
    commute: I take the train to work | I cycle to work | my commute takes {number} minutes | I drive
        {number} kilometres to work | I don't have a driving licence | I hate driving in the city | I walk
        to the office | my bus leaves at {time}
    sport: I play {sport} | I play {sport} every {day} | I've been playing {sport} since I was {small} | I
        used to play {sport} in college | I'm training for a marathon | I support the {city} team | my
        {relative} coaches {sport} | I'm terrible at {sport} | I like to watch {sport} with my {relative}
        | {sport} is my favourite sport | my team lost the {sport} final last {day} | I have a black belt
        in judo
    hobbies: I enjoy {hobby} | I like {hobby} | in my free time I go {hobby} | {hobby} is my hobby | my
        hobbies are {hobby} and {hobby} | I spend my weekends {hobby} | I recently took up {hobby} | I
        gave up {hobby} because of my {bodypart} | my {relative} taught me {hobby} | I find {hobby} boring
        | I'm good at {hobby} | I love {hobby} with my {relative}
    languages: I speak {language} | I speak {language} and a little {language} | I'm learning {language} |
        my mother tongue is {language} | I don't speak {language} | we speak {language} at home | my
        {relative} only speaks {language} | my {language} is rusty | I took {language} for {small} years
        at school
    health: I have {illness} | I was diagnosed with {illness} in {year} | my {relative} suffers from
        {illness} | I take medication for {illness} | my doctor says I have {illness} | I had an operation
        on my {bodypart} in {year} | my blood type is {bloodtype} | I gave up smoking in {year} | I smoke
        about {number} cigarettes a day | I can't lift heavy things because of my {bodypart} | I wear
        glasses | I'm colour-blind | I'm pregnant | my blood pressure is too high
    birthday: my birthday is on {date} | my birthday is {date} | I was born on {date} | I was born in
        {year} | my {relative}'s birthday is on {date} | I turn {age} next {month} | I'm {age} years old |
        I am {age} | our anniversary is on {date} | we got married on {date} | my {relative} is {age}
    name: my name is {name} | I'm {name} | call me {name} | you can call me {name} | everybody calls me
        {name} | my full name is {name} {surname} | my last name is {surname} | I go by {name} | it's
        {name} by the way | this is {name}, I work at {company}
    contact: my email is {name}@example.com | my phone number ends in {number} | my locker code is
        {number} | my membership number is {number} | my time zone is {city} time | my doctor's name is
        {surname} | my dentist is Dr {surname} in {city} | my bank is closed on {day}s
    car: I drive a {car} | I have a {colour} {car} | my {car} broke down last {day} | our car is a {car}
        from {year} | I sold my {car} in {month} | my {relative} drives an old {car} | I want to buy a
        {car} | my licence plate starts with {number}
    devices: I use {tool} on a {device} | I have a {device} | my {device} is {small} years old | my
        {device} has {number} GB of memory | I bought a new {device} last {month} | my {relative} gave me
        a {device} | I run Linux on my {device} | I do everything on my {device} | I broke my {device}
        yesterday
    work_tools: I write all my code in {tool} | my editor is {tool} | I always use {tool} for spreadsheets
        | I switched from {tool} to {tool} last year | we moved our project to {tool} | I prefer {tool} to
        {tool}
    trip: I'm going to {city} in {month} | I'm flying to {city} on {day} | we're spending {small} weeks in
        {city} | I went to {city} last {month} | I've never been to {city} | I've been to {city} {small}
        times | my {relative} and I are planning a trip to {city} | I get seasick on boats | I always book
        a window seat | I prefer small hotels to big ones | I like travelling alone | my passport expires
        in {month} | our flight leaves at {time}
    appointments: I have a dentist appointment on {day} | I have a meeting with {name} at {time} | my
        interview at {company} is on {day} | I can't make it on {day} | I'm free on {day} afternoon |
        we're having dinner with {name} on {day} | my {relative} is visiting us in {month} | I'm on
        holiday until {date} | the plumber is coming to my place on {day}
    goals: I want to learn {language} | I'd like to lose {small} kilos this year | my goal is to run
        {number} kilometres | I'm saving up for a {dwelling} | I want to retire at {age} | I dream of
        living in {city} | I hope to finish my degree in {subject} by {month} | I'm trying to quit sugar |
        I'm writing a book about {subject}
    money: I earn about {number} a month | my budget is {number} | our budget for the {room} is {number} |
        I still owe my {relative} {number} | I have a mortgage until {year} | I don't want to spend more
        than {number} on a {device} | I can't afford a {car} | I keep my savings at a small bank in {city}
    beliefs: I'm a {faith} | I go to church every {day} | I don't believe in horoscopes | I vote in every
        election | my {relative} is very religious | I was raised {faith}
    personality: I'm a night owl | I'm an early bird | I'm quite shy | I get nervous in crowds | I'm an
        introvert | I'm left-handed | people say I'm stubborn | I laugh at my own jokes | I'm always late
        | I have a good memory for faces | I cry at weddings | I don't like being rushed | I'm bad with
        names
    appearance: I'm {number} cm tall | I have {colour} hair | I have a beard | I dyed my hair {colour} |
        my {relative} has {colour} eyes | I have a tattoo of a {pet} on my {bodypart} | I wear size
        {small}
    reading: I'm reading a {genre} novel at the moment | I read about {small} books a month | my favourite
        books are {genre} novels | I prefer paper books to ebooks | I'm in a book club with {name} | I
        never finish {genre} books
    answer_style: I prefer short answers | I like answers with examples | always give me metric units |
        from now on call me {name} | please always use the 24-hour clock with me | I prefer bullet points
        | I don't like long explanations | never use emojis when you talk to me | I want you to always
        explain {subject} in simple words | I'm a beginner in {subject}, so keep it simple | I know
        {subject} well, no need to explain the basics | don't ever suggest {food} to me | whenever I ask
        for recipes, assume I am {diet}
    projects: I'm building a {device} stand for my {relative} | I'm renovating our {room} | I'm working on
        a paper about {subject} | my side project is an app for {hobby} | we're painting the {room}
        {colour} | I run a blog about {hobby} | our project is due on {date} | I've spent {number} hours
        on my model railway
    partner: I'm married | I'm single | I've been married for {number} years | I met my {relative} in
        {city} | my partner's name is {name} | I got divorced in {year} | my girlfriend is {job} | my
        husband can't cook | I'm engaged to {name} | my wife and I love {hobby}
    friends: my best friend is {name} | {name} and I have known each other since {year} | my friend {name}
        lives in {city} | I share an office with {name} | I had a falling out with {name} | {name}, a
        friend of mine, is {job} | my neighbour's {child} goes to school with my {child} | most of my
        friends live in {city}
    past: I once met {job} in {city} | I broke my {bodypart} when I was {small} | I lost my keys in {city}
        | I served in the army for {small} years | I was in a car accident in {year} | I used to live on a
        farm | I saw a bear while {hobby} | I won a {sport} tournament in {year} | we lost our house in
        the flood of {year} | I ate {food} for the first time in {city}
    wishes: I wish I had a {pet} | I would like to visit {city} someday | one day I'd like to own a {car}
        | I'd love to work as {job} | I want to go back to {city} | I wish my {relative} lived closer | I
        hope to become {job} | I'm looking for a bigger {dwelling} for us | I'd love to have a garden
    choices: the {cuisine} place suits me, I don't like {food} | {hobby} appeals to me more than {sport} |
        I'd go by train because I hate flying | loud places are not for me | {food} doesn't agree with me
        | I'll take the {colour} one, I never wear {colour} | the quiet hotel sounds right for me, I sleep
        badly | none of the {genre} films appeal to me | the {dwelling} fits my needs best, I have {small}
        kids | I'd pick the cheaper one, I'm saving for a {car} | I'd go with the {language} course, I
        already speak {language} | crowded beaches don't appeal to me | I won't consider a {car}, whatever
        it costs | I avoid anything with {allergen} in it | I despise {music} | I care a lot about the
        environment, so I avoid flying | I refuse to buy a {device} without a warranty
    music_making: I play the {instrument} | I've played the {instrument} since I was {small} | my
        {relative} plays the {instrument} in a band | I'm learning to play the {instrument} | I sing in a
        choir in {city} | I own {small} guitars | our band rehearses on {day}s
    clothes: I only wear second-hand clothes | I never wear a tie | my shoe size is {number} | I like
        loose jeans | I can't wear wool, it itches | I knit my own sweaters | my {relative} designs
        dresses
    garden: I grow tomatoes on my balcony | our garden is full of roses | my roses died last {month} | I
        mow the lawn every {day} | we have an apple tree behind the house | my {relative} keeps bees
    fears: I'm afraid of spiders | I'm scared of flying | heights make me dizzy | my {child} is afraid of
        the dark | I panic in lifts | I've always been afraid of dogs
    sleep: I sleep about {small} hours a night | I can't fall asleep without music | I snore | I go to bed
        at {time} | I haven't slept well since {month} | my {relative} talks in their sleep
    volunteering: I volunteer at an animal shelter | I help at the food bank on {day}s | I give blood
        twice a year | my {relative} is a volunteer firefighter | I donate to a children's charity | we
        collect clothes for refugees
    neighbours: my neighbours are loud | our neighbour {name} waters the plants | the couple upstairs has
        a baby | my neighbour borrowed my drill | the family next door to us comes from {city}
    wedding: our wedding is on {date} | my sister is getting married in {city} | I'm the best man at
        {name}'s wedding | we invited {number} guests to our wedding | I bought a ring for {name}
    without_i_home: our heating is broken | the spare key is under the {colour} pot by our door | our
        {room} faces south | the dishwasher in our flat leaks | our internet is down since {day} | the
        {room} in our house has no window
    coffee: I drink {small} cups of coffee a day | I take my coffee black | I'm more of a tea person |
        coffee after {time} keeps me awake | I drink my tea with milk | I can't function without coffee
    phone_habits: I keep my phone on silent | I deleted all my social media accounts | I spend too much
        time on my phone | I don't answer unknown numbers | my screen time is {small} hours a day
    injury: I twisted my ankle on {day} | my {bodypart} has been hurting for {small} weeks | I'm on
        crutches until {month} | my {relative} is in hospital in {city} | I pulled a muscle playing
        {sport}
    answer_language: I'd rather you answered me in {language} from now on | please speak to me in simple
        English, I'm still learning | I find long tables hard to read | always tell me the source | don't
        use jargon with me
    """
)
