"""`python -m oblique_cli` is `oblique`."""

import sys

from oblique_cli.cli import main

sys.exit(main())
