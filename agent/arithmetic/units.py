"""Units and their dimensions. A quantity is a number in the base unit of its dimension."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

_D = Decimal
# dimension → {name: how many of the base unit}; the base unit has 1
UNITS: Final[Mapping[str, Mapping[str, Decimal]]] = {
    "length": {
        "m": _D(1), "km": _D(1000), "cm": _D("0.01"), "mm": _D("0.001"),
        "mile": _D("1609.344"), "miles": _D("1609.344"), "yd": _D("0.9144"), "ft": _D("0.3048"), "inch": _D("0.0254"),
    },
    "mass": {
        "kg": _D(1), "g": _D("0.001"), "mg": _D("0.000001"), "t": _D(1000), "lb": _D("0.45359237"),
        "oz": _D("0.028349523125"),
    },
    "area": {"m2": _D(1), "km2": _D(1_000_000), "ha": _D(10_000), "sqft": _D("0.09290304")},
    "volume": {"l": _D(1), "L": _D(1), "ml": _D("0.001"), "m3": _D(1000), "gal": _D("3.785411784")},
    "data": {
        "B": _D(1), "byte": _D(1), "bytes": _D(1), "bit": _D("0.125"), "bits": _D("0.125"),
        **{f"{letter}B": _D(1000) ** power for power, letter in enumerate("kMGTP", 1)},
        "KB": _D(1000), **{f"{letter}iB": _D(1024) ** power for power, letter in enumerate("KMGTP", 1)},
    },
    "time": {
        "s": _D(1), "sec": _D(1), "second": _D(1), "seconds": _D(1), "ms": _D("0.001"),
        "min": _D(60), "minute": _D(60), "minutes": _D(60), "h": _D(3600), "hour": _D(3600), "hours": _D(3600),
        "d": _D(86_400), "day": _D(86_400), "days": _D(86_400), "week": _D(604_800), "weeks": _D(604_800),
    },
}  # fmt: skip
CHINESE: Final[Mapping[str, str]] = {
    "公里": "km", "千米": "km", "米": "m", "厘米": "cm", "毫米": "mm", "公斤": "kg", "千克": "kg", "克": "g", "吨": "t",
    "升": "l", "毫升": "ml", "公顷": "ha", "秒": "s", "分钟": "min", "小时": "h", "天": "days", "周": "weeks",
}  # fmt: skip
NAMES: Final[Mapping[str, tuple[str, Decimal]]] = {
    name: (dimension, factor) for dimension, units in UNITS.items() for name, factor in units.items()
}
TEMPERATURES: Final = {"C", "F", "K", "celsius", "fahrenheit", "kelvin", "°C", "°F"}


@dataclass(frozen=True)
class Quantity:
    """value: in the base unit. unit: for display."""

    value: Decimal
    dimension: str
    unit: str

    def within(self, unit: str) -> Decimal:
        return self.value / NAMES[unit][1]


def make_unit_quantity(unit: str) -> Quantity:
    dimension, factor = NAMES[unit]
    return Quantity(factor, dimension, unit)


def convert_temperature(value: Decimal, source: str, target: str) -> Decimal:
    first, last = (name.lstrip("°")[0].upper() for name in (source, target))
    kelvin = {"K": value, "C": value + _D("273.15"), "F": (value + _D("459.67")) * 5 / 9}[first]
    return {"K": kelvin, "C": kelvin - _D("273.15"), "F": kelvin * 9 / 5 - _D("459.67")}[last]
