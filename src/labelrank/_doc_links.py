"""Links from the HTML representation of an estimator, as shown in notebooks, to its page in the documentation."""

from __future__ import annotations

import sys

from labelrank import __version__

VERSION = "latest" if "dev" in __version__ else "stable"


class DocLinkMixin:
    """Mixin for estimators with a page in the API documentation, to the left of ``BaseEstimator`` in the bases.

    Subclasses outside of the library get no link.
    """

    _doc_link_module = "labelrank"
    _doc_link_template = f"https://labelrank.readthedocs.io/en/{VERSION}/api/generated/{{page}}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Name of the page: ``labelrank.Name`` if the class is exported there, else ``labelrank.module.Name``."""
        name = type(self).__name__
        package, module = type(self).__module__.split(".")[:2]
        exported = getattr(sys.modules[package], name, None) is type(self)
        return {"page": f"{package}.{name}" if exported else f"{package}.{module}.{name}"}
