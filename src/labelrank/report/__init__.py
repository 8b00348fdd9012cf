"""Reports on models as HTML files. They need matplotlib and jinja2: ``pip install "labelrank[plot]"``."""

from labelrank.report.build import build_report
from labelrank.report.page import Report

__all__ = ["Report", "build_report"]
