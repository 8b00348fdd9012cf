"""Boosting: parallel (all coefficients), sequential (the best one of every label), or by templates."""
