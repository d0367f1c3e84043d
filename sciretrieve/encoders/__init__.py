"""Turning papers and queries into vectors: the catalogue of encoders, and the compiled runtime that runs them."""

from .catalogue import CATALOGUE, EncoderSpec
from .compiled import CompiledEncoder, load_encoder

__all__ = ["CATALOGUE", "CompiledEncoder", "EncoderSpec", "load_encoder"]
