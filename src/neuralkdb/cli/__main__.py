"""`python -m neuralkdb.cli` is `neuralkdb`."""

import sys

from neuralkdb.cli.main import main

sys.exit(main())
