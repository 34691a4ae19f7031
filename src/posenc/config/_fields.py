"""Reading a file and single fields of it, with errors that name the field."""

import json
import os
import reprlib
import stat
from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Integral, Real

__all__ = ["ConfigError", "Fields", "load", "show", "words"]

# Real files hold some kilobytes; what is far larger is something else.
_LARGEST_FILE = 16 * 1024 * 1024
# Above every released model, and small enough for arrays and float64.
LARGEST_COUNT = 1_000_000
LARGEST_LENGTH = 2**53


class ConfigError(ValueError):
    """A configuration that cannot be read without guessing."""


def load(config: Mapping[str, object] | str | os.PathLike[str]) -> Mapping[str, object]:
    """Return the configuration itself, or that of the JSON file at a path."""
    if isinstance(config, Mapping):
        return config
    if not isinstance(config, str | os.PathLike):
        raise ConfigError(f"config must be a mapping or a path, got {type(config).__name__}")
    if isinstance(config, str) and config.lstrip().startswith(("{", "[")):
        raise ConfigError("config must be a mapping or a path; this text is JSON, parse it first")
    path = os.fspath(config)
    try:
        if os.path.isdir(path):
            path = os.path.join(path, "config.json")
        text = _read_text(path)
        value = json.loads(text, object_pairs_hook=_unique)
    except ConfigError as error:
        raise ConfigError(f"{show(path)}: {error}") from None
    except OSError as error:
        raise ConfigError(f"{show(path)} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise ConfigError(f"{show(path)} is nested too deeply") from None
    except ValueError as error:  # not JSON, not UTF-8, a NUL in the path, an endless integer
        raise ConfigError(f"{show(path)} is no JSON file: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{show(path)} must hold a JSON object, got {type(value).__name__}")
    return value


def _read_text(path: str) -> str:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError("is no regular file")
    if status.st_size > _LARGEST_FILE:
        raise ConfigError(f"is larger than {_LARGEST_FILE} bytes, so it is no configuration")
    with open(path, encoding="utf-8-sig") as file:
        return file.read(_LARGEST_FILE)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ConfigError(f"key {show(key)} stands twice in one object")
        result[key] = value
    return result


_short = reprlib.Repr()
_short.maxlevel, _short.maxlist, _short.maxdict = 2, 4, 4
_short.maxstring = _short.maxother = 60


def show(value: object) -> str:
    """Return a short text of any value, also of one that cannot be printed."""
    try:
        return _short.repr(value)
    except (ValueError, RecursionError):  # integers beyond the printable size
        return f"a huge {type(value).__name__}"


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, for tables of names."""
    return tuple(text.split())


class Fields:
    """Typed access to one JSON object. JSON null counts as a field that is not there."""

    def __init__(self, values: Mapping[str, object], where: str = "") -> None:
        self.values = values
        self.where = where
        self.used: set[str] = set()

    def get(self, name: str) -> object:
        """Return a field as it is and remember that somebody read it."""
        self.used.add(name)
        return self.values.get(name)

    def has(self, name: str) -> bool:
        """Tell whether a field is there, without counting as reading it."""
        return self.values.get(name) is not None

    def error(self, name: str, rule: str) -> ConfigError:
        """Return the error for a field that breaks `rule`."""
        return ConfigError(f"{self.where}{name} {rule}, got {show(self.values.get(name))}")

    def missing(self, names: str, why: str) -> ConfigError:
        """Return the error for a field that is needed and not there."""
        return ConfigError(f"{self.where}{names} is missing: {why}")

    def number(
        self, name: str, *, least: float = 0.0, most: float = 1e30, above: bool = False
    ) -> float | None:
        """Return a finite number within bounds; text, booleans and NaN are none."""
        value = self.get(name)
        if value is None:
            return None
        return self._number(name, value, least, most, above)

    def _number(self, name: str, value: object, least: float, most: float, above: bool) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise self.error(name, "must be a number")
        try:
            number = float(value)
        except OverflowError:
            raise self.error(name, f"must be at most {most:g}") from None
        if not isfinite(number):
            raise self.error(name, "must be finite")
        if number < least or (above and number == least):
            raise self.error(name, f"must be {'greater than' if above else 'at least'} {least:g}")
        if number > most:
            raise self.error(name, f"must be at most {most:g}")
        return number

    def integer(self, name: str, *, least: int = 1, most: int = LARGEST_COUNT) -> int | None:
        """Return a whole number within bounds."""
        value = self.get(name)
        if value is None:
            return None
        number = self._number(name, value, least, most, above=False)
        if number != int(number):
            raise self.error(name, "must be a whole number")
        # The float may be rounded, the integer itself is exact.
        return int(value) if isinstance(value, Integral) else int(number)

    def length(self, name: str) -> int | None:
        """Return a number of positions."""
        return self.integer(name, most=LARGEST_LENGTH)

    def flag(self, name: str) -> bool | None:
        """Return true or false."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.error(name, "must be true or false")
        return value

    def text(self, name: str) -> str | None:
        """Return a text."""
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            raise self.error(name, "must be a text")
        return value

    def sequence(self, name: str) -> Sequence[object] | None:
        """Return a list."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.error(name, "must be a list")
        if len(value) > LARGEST_COUNT:
            raise ConfigError(f"{self.where}{name} must be shorter, got {len(value)} entries")
        return value

    def numbers(self, name: str) -> list[float] | None:
        """Return a list of positive numbers that divide frequencies."""
        values = self.sequence(name)
        if values is None:
            return None
        return [self._number(name, value, 1e-6, 1e9, above=False) for value in values]

    def block(self, name: str) -> "Fields | None":
        """Return an object inside this one; an empty one counts as not there."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.error(name, "must be an object")
        return Fields(value, f"{self.where}{name}.") if value else None

    def spelled(self, *names: str, least: int = 1) -> int | None:
        """Return the whole number that any of several spellings gives; they must agree."""
        found = {name: self.integer(name, least=least) for name in names if self.has(name)}
        if len(set(found.values())) > 1:
            each = ", ".join(f"{name} {value}" for name, value in found.items())
            raise ConfigError(f"{self.where or 'the configuration '}gives one thing twice: {each}")
        return next(iter(found.values()), None)
