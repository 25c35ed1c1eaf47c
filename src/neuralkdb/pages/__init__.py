"""Pages about models: one self-contained file each, that opens from disk and asks no network for anything."""

from neuralkdb.pages.comparison import comparison_page
from neuralkdb.pages.markup import write_page
from neuralkdb.pages.report import report_page

__all__ = ["comparison_page", "report_page", "write_page"]
