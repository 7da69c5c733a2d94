"""The client that waits with `await`. `_sync` is made from it, but for `io.py`."""
