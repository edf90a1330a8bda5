"""Give codes of countries and states their names, so that “California” finds `CA`."""

from business.inference.identifiers import pairs_of
from business.semantic_layer.model import Value

_STATES = """
AL Alabama; AK Alaska; AZ Arizona; AR Arkansas; CA California; CO Colorado; CT Connecticut; DE Delaware; FL Florida; GA Georgia;
HI Hawaii; ID Idaho; IL Illinois; IN Indiana; IA Iowa; KS Kansas; KY Kentucky; LA Louisiana; ME Maine; MD Maryland;
MA Massachusetts; MI Michigan; MN Minnesota; MS Mississippi; MO Missouri; MT Montana; NE Nebraska; NV Nevada; NH New Hampshire;
NJ New Jersey; NM New Mexico; NY New York; NC North Carolina; ND North Dakota; OH Ohio; OK Oklahoma; OR Oregon; PA Pennsylvania;
RI Rhode Island; SC South Carolina; SD South Dakota; TN Tennessee; TX Texas; UT Utah; VT Vermont; VA Virginia; WA Washington;
WV West Virginia; WI Wisconsin; WY Wyoming; DC District of Columbia; PR Puerto Rico
"""
_COUNTRIES = """
US United States; GB United Kingdom; UK United Kingdom; DE Germany; FR France; IT Italy; ES Spain; PT Portugal; NL Netherlands;
BE Belgium; LU Luxembourg; CH Switzerland; AT Austria; IE Ireland; NO Norway; SE Sweden; DK Denmark; FI Finland; IS Iceland;
PL Poland; CZ Czech Republic; SK Slovakia; HU Hungary; RO Romania; BG Bulgaria; GR Greece; TR Turkey; RU Russia; UA Ukraine;
CN China; JP Japan; KR South Korea; IN India; ID Indonesia; MY Malaysia; SG Singapore; TH Thailand; VN Vietnam; PH Philippines;
AU Australia; NZ New Zealand; CA Canada; MX Mexico; BR Brazil; AR Argentina; CL Chile; CO Colombia; PE Peru; VE Venezuela;
ZA South Africa; EG Egypt; NG Nigeria; KE Kenya; MA Morocco; IL Israel; SA Saudi Arabia; AE United Arab Emirates
"""


_CODES = {"state": pairs_of(_STATES), "country": pairs_of(_COUNTRIES)}


def spelled_out(column: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return a column's values with their names, if every value is a code of a state or country."""
    kind = next((kind for kind in _CODES if kind in column.lower()), "")
    names = _CODES.get(kind, {})
    if not values or not all(value.value in names for value in values):
        return values
    return tuple(value.model_copy(update={"synonyms": (names[value.value],)}) for value in values)
