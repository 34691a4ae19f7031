"""Position methods of Transformers, derived exactly and computed in NumPy."""

__version__ = "0.1.0"
