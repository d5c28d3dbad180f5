"""Command `python -m oblique_cli`, the same as `oblique`."""

import sys

# Python puts the current folder first on the path: a json.py there must not replace the standard module.
# A checkout that is not installed is imported from the current folder, which therefore stays.
if not sys.flags.safe_path and not (__file__ or "").startswith(sys.path[0] + "/oblique_cli/"):
    del sys.path[0]

from oblique_cli._start import main

sys.exit(main())
