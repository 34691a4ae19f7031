"""Settings that must hold before a peer is imported."""

import os

# Models are built from configurations written here; nothing is fetched.
os.environ["HF_HUB_OFFLINE"] = "1"
# JAX computes in float32 unless asked; its second opinion on gradients needs float64.
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
