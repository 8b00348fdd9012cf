"""Rankers chosen for you: preprocessing of raw data for any ranker, and an ensemble of the best ones."""

from labelrank.auto.preprocessing import TextVectorizer, pipeline_for

__all__ = ["TextVectorizer", "pipeline_for"]
