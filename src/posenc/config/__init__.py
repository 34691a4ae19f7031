"""The positions that a model really computes, from its configuration file."""

from posenc.config._fields import ConfigError
from posenc.config._read import read
from posenc.config._scheme import PositionScheme

__all__ = ["ConfigError", "PositionScheme", "read"]
