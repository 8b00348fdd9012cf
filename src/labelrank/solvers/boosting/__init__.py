"""Boosting: all coefficients in parallel, the best one of every label sequentially, or templates of them."""
