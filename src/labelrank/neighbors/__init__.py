"""Instance-based label ranking (IBLR): nearest neighbors whose rankings are aggregated."""

from labelrank.neighbors.ranker import KNeighborsRanker
from labelrank.neighbors.ranker_cv import KNeighborsRankerCV

__all__ = ["KNeighborsRanker", "KNeighborsRankerCV"]
