"""`rlx` and `python -m rlx`."""

import sys

from rlx.cli.app import run


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
