"""What kind of place a name is, as far as it matters to whether two of them can both be where somebody lives.

"I live in Germany" and "I live in Bonn" can both hold, "I live in Rome" and "I live in Bonn" cannot.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

PlaceKind: TypeAlias = Literal["continent", "country", "state", "town", "street", "dwelling", "unknown"]

_CONTINENTS = frozenset("europe|asia|africa|america|north america|south america|oceania".split("|"))
_COUNTRIES = frozenset(
    "afghanistan|albania|algeria|andorra|angola|argentina|armenia|australia|austria|azerbaijan|bangladesh|"
    "belarus|belgium|bolivia|bosnia|botswana|brazil|britain|bulgaria|burma|cambodia|cameroon|canada|chad|"
    "chile|china|colombia|congo|costa rica|croatia|cuba|cyprus|czechia|czech republic|denmark|ecuador|egypt|"
    "el salvador|england|eritrea|estonia|ethiopia|finland|france|gambia|georgia|germany|ghana|great britain|"
    "greece|greenland|guatemala|guinea|haiti|holland|honduras|hungary|iceland|india|indonesia|iran|iraq|"
    "ireland|israel|italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|kosovo|kuwait|laos|latvia|"
    "lebanon|liberia|libya|liechtenstein|lithuania|luxembourg|madagascar|malawi|malaysia|mali|malta|"
    "mauritius|mexico|moldova|mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal|netherlands|"
    "new zealand|nicaragua|niger|nigeria|north korea|north macedonia|northern ireland|norway|oman|pakistan|"
    "palestine|panama|paraguay|peru|philippines|poland|portugal|qatar|romania|russia|rwanda|saudi arabia|"
    "scotland|senegal|serbia|slovakia|slovenia|somalia|south africa|south korea|spain|sri lanka|sudan|"
    "sweden|switzerland|syria|taiwan|tanzania|thailand|togo|tunisia|turkey|uganda|uk|ukraine|"
    "united arab emirates|united kingdom|united states|uruguay|us|u.s|usa|uzbekistan|venezuela|vietnam|"
    "wales|yemen|zambia|zimbabwe".split("|")
)
_STATES = frozenset(
    "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|"
    "indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|"
    "missouri|montana|nebraska|nevada|new england|new hampshire|new jersey|new mexico|north carolina|"
    "north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|"
    "texas|utah|vermont|virginia|west virginia|wisconsin|wyoming|alberta|british columbia|manitoba|"
    "nova scotia|ontario|quebec|saskatchewan|new south wales|queensland|tasmania|bavaria|brandenburg|hesse|"
    "lower saxony|saxony|thuringia|tuscany|lombardy|sicily|sardinia|umbria|catalonia|andalusia|brittany|"
    "normandy|provence|cornwall|devon|essex|kent|surrey|sussex|yorkshire|bretagne|flanders|wallonia|tyrol|"
    "styria|jutland|scania|lapland".split("|")
)
_STREET = re.compile(
    r"\d|\b(?:street|road|avenue|lane|alley|drive|square|boulevard|st|rd|ave)\b|(?:str|straße|strasse|weg|"
    r"gade|"
    r"straat)\b",
    re.IGNORECASE,
)
_DWELLING = re.compile(
    r"(?:an?|the|our|my|his|her|their) (?:[\w-]+ ){0,2}?(?:flat|house|apartment|studio|cottage|bungalow|"
    r"houseboat|boat|van|farmhouse|caravan|dorm|dormitory|villa|penthouse|loft)$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:the )?[A-ZÀ-ÖØ-Þ][\w'’.-]*(?: (?:[A-ZÀ-ÖØ-Þ][\w'’.-]*|am|an|der|de|la|le|of|on|upon))*$"
)
_WORKED_WITH = re.compile(  # or in: "we moved to Slack", "I moved to Team Blue", "I moved from O2"
    r"(?:an? |the |my )?(?:new )?(?:"
    r"(?:Amazon|Android|Apple|AWS|Azure|Bing|Bitwarden|Brave|Chrome|Debian|Deezer|Deutsche Bank|Discord|"
    r"Disney|Docker|Dropbox|DuckDuckGo|Emacs|Evernote|Excel|Fedora|Firefox|Garmin|GitHub|GitLab|Gmail|Google|"
    r"iCloud|iOS|iPad|iPhone|Java|JavaScript|Kotlin|Kubernetes|(?:\w+ )?Linux|Mac(?:Book)?|macOS|"
    r"Mastodon|Microsoft|Mint Mobile|MySQL|Netflix|Notion|Obsidian|Office|OneDrive|Opera|Outlook|"
    r"PayPal|Pixel|Postgres|PostgreSQL|Proton(?:Mail)?|Python|Revolut|Rust|Safari|Samsung|Signal|Slack|"
    r"Sparkasse|Spotify|SQLite|Teams|Telegram|Telekom|Tidal|T-Mobile|TypeScript|Ubuntu|Verizon|Vim|Vivaldi|"
    r"Vodafone|VS Code|WhatsApp|Windows|YouTube|Zoom)(?: (?:[\d.]+|Cloud|Drive|Maps|Mobile|Music|Plus|"
    r"Premium|Pro))?\+?$"
    r"|(?:Team|Chapter|Plan|Unit|Phase|Level|Version|Python|Windows) "
    r"|(?:[Ss]eat|[Bb]ed|[Dd]esk) \d"
    r"|[A-Za-z]{1,3}\d{1,2}$|\d[A-Z]$|[\w ]+\+$"
    r"|(?!(?:LA|NY|NYC|DC|SF|UK|US|USA|UAE|NZ|EU|GDR|DDR|NRW|BC)$)[A-Z]{2,4}(?:&[A-Z])?$)"
)
_AT_WORK = re.compile(  # "the sales team at Siemens", "management"; and not "Office Park Road 3"
    r"(?:(?!(?:near|by|next|behind|above|over|opposite|beside|close|in|at|on|outside|of)\b)[^\s,-]+[ -])*"
    r"(?:team|office|headquarters|hq|department|branch|division|unit|group|desk|role|position|job|"
    r"company|firm|employer|bank|insurer|insurance|provider|carrier|network|operator|supplier|plan|tariff|"
    r"contract|school|college|university|course|class|shifts?|project|gym|club|"
    r"doctor|dentist|phone|laptop|browser|app|editor|server|version|system|platform|management|marketing|"
    r"sales|accounting|finance|engineering|research|consulting|decaf|tea|coffee|oat milk|another)"
    r"(?: (?:at|in|by|near|of|for|on|with)\b.*)?$",
    re.IGNORECASE,
)


def is_worked_with(words: str) -> bool:
    """Whether words name no place but a thing or a company that one uses: "Linux", "Vodafone", "O2"."""
    return _WORKED_WITH.match(words.strip()) is not None


def is_at_work(words: str) -> bool:
    """Whether words tell of a place in a house or a firm, of a supplier or the like: "the Berlin office".

    Who moves there need not live there.
    """
    return _AT_WORK.fullmatch(words.strip()) is not None and _STREET.search(words) is None


def place_kind(place: str) -> PlaceKind:
    """What kind of place these words name; unknown where they are no name of a town, nor any of the rest."""
    words = place.strip().rstrip(".!")
    known = words.casefold().removeprefix("the ")
    if known in _CONTINENTS:
        return "continent"
    if known in _COUNTRIES:
        return "country"
    if known in _STATES:
        return "state"
    if _DWELLING.match(words):
        return "dwelling"
    if _STREET.search(words):
        return "street"
    return "town" if _NAMED.match(words) else "unknown"
