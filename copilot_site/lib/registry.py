"""A named set of implementations: how tools, parsers, embedders and providers are found."""

from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, TypeVar

T = TypeVar("T")


class UnknownName(KeyError):
    """An unregistered name. The text names the nearest known one."""

    def __str__(self) -> str:
        return str(self.args[0])


class Registry(Generic[T]):
    """Names to implementations of one kind; a name is used once.

    kind: what is registered, in words, for the error texts ("embedder", "parser").
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T] = {}

    def add(self, name: str, item: T) -> T:
        """Register `item`; raises ValueError when the name is taken."""
        if name in self._items:
            raise ValueError(f"the {self.kind} name {name!r} is used twice")
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        """Return the implementation called `name`; raises UnknownName."""
        try:
            return self._items[name]
        except KeyError:
            raise UnknownName(self._format_unknown_name(name)) from None

    def names(self) -> list[str]:
        return sorted(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items.values())

    def _format_unknown_name(self, name: str) -> str:
        near = get_close_matches(name, self._items, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(self.names()) or 'none'}"
        return f"there is no {self.kind} called {name!r}; {hint}"


def load_modules(package: str) -> None:
    """Import every module of a package, by name, so that they register themselves."""
    for module in sorted(iter_modules(import_module(package).__path__), key=lambda entry: entry.name):
        import_module(f"{package}.{module.name}")
