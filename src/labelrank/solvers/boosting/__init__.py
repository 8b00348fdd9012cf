"""Boosting: all coefficients in parallel, the best one sequentially, or templates of them."""
