"""The demo: a training script with a NaN in it, and the handwritten digits it trains on."""
