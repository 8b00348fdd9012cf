"""Models: how the scores of labels are made of coefficients."""
