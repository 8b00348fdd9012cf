"""``python -m labelrank``: the command line."""

from labelrank.cli import main

if __name__ == "__main__":
    main()
