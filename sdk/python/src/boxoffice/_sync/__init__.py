"""The client that blocks. It is made from `_async` by scripts/make-python.ts, but for `io.py`."""
