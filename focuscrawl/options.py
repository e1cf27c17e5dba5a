"""Options of a spider: `-a name=value`, declared on the class with a default and a line of help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Generic, TypeVar, overload

from focuscrawl.errors import FocusError, suggest

T = TypeVar("T")


class Option(Generic[T]):
    """A spider's option.

    The type of the default determines which values are accepted; *choices*, *at_least* and *at_most* narrow them.
    *read* replaces all this: it parses the value, or raises ValueError.
    """

    def __init__(
        self,
        default: T,
        help: str,  # noqa: A002
        *,
        choices: tuple[str, ...] = (),
        at_least: float | None = None,
        at_most: float | None = None,
        expects: str = "",
        read: Callable[[str], T] | None = None,
        given_as: str = "",
        alias: str = "",
    ) -> None:
        self.default = default
        self.help = help
        self.choices = choices
        self.at_least = at_least
        self.at_most = at_most
        self.expected = expects
        self.reader = read
        self.name = ""
        #: The name on the command line, if it differs from the attribute's.
        self.given_as = given_as
        #: Another name on the command line. Scrapyd takes some names for itself.
        self.alias = alias

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Option[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Option[T] | T:
        if instance is None:
            return self
        value: T = instance.__dict__.get(self.name, self.default)
        return value

    def __set__(self, instance: object, value: T) -> None:
        instance.__dict__[self.name] = value

    def expects(self) -> str:
        """The accepted values, in words."""
        if self.expected:
            return self.expected
        if self.choices:
            return " or ".join(self.choices)
        kind = {int: "a whole number", float: "a number", bool: "yes or no"}.get(type(self.default), "a string")
        if self.at_least is not None and self.at_most is not None:
            return f"{kind} from {self.at_least:g} to {self.at_most:g}"
        least = "" if self.at_least is None else f", at least {self.at_least:g}"
        most = "" if self.at_most is None else f", at most {self.at_most:g}"
        return f"{kind}{least}{most}"

    def parse(self, value: Any) -> T:
        """Parse a value from the command line; raises ValueError."""
        if self.reader is not None:
            return self.reader(str(value))
        if isinstance(self.default, bool):
            if str(value).lower() not in _BOOLEANS:
                raise ValueError
            return _BOOLEANS[str(value).lower()]  # type: ignore[return-value]
        if self.default is not None:
            value = _READERS[type(self.default)](value)
        if isinstance(value, float) and not isfinite(value):
            raise ValueError
        if self.choices and value not in self.choices:
            raise ValueError
        if self.at_least is not None and not value >= self.at_least:
            raise ValueError
        if self.at_most is not None and not value <= self.at_most:
            raise ValueError
        return value  # type: ignore[no-any-return]


_READERS: dict[type, Callable[[Any], Any]] = {int: int, float: float, str: str}
_BOOLEANS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def options_of(cls: type) -> dict[str, Option[Any]]:
    """The options a class declares or inherits, by name."""
    found: dict[str, Option[Any]] = {}
    for base in reversed(cls.__mro__):
        found.update({value.given_as or name: value for name, value in vars(base).items() if isinstance(value, Option)})
    return found


def set_options(spider: Any, given: Mapping[str, Any], others: tuple[str, ...] = ()) -> None:
    """Set a spider's options from its arguments, parsed by `read_options`."""
    for name, value in read_options(type(spider), given, others).items():
        setattr(spider, name, value)


def read_options(spider: type[Any], given: Mapping[str, Any], others: tuple[str, ...] = ()) -> dict[str, Any]:
    """Parse the options of a spider, by attribute; an unknown one is an error that names it.

    *others* are further arguments that it accepts.
    """
    known = options_of(spider)
    aliases = {option.alias: option for option in known.values() if option.alias}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name.startswith("_") or name in others:  # Scrapyd's own, such as _job
            continue
        option = known.get(name) or aliases.get(name)
        if option is None:
            names = sorted([*known, *others])
            hint = suggest(name, names) or f"it takes {', '.join(names)}"
            raise FocusError(f"spider '{spider.name}' has no option '{name}'; {hint}")
        try:
            values[option.name] = option.parse(value)
        except (ValueError, TypeError):
            raise FocusError(f"option {name}={value}: expected {option.expects()}") from None
    return values
