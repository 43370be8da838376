"""What can go wrong: each error carries what, where and what to do about it."""


class Error(Exception):
    """Something failed: a model that cannot be read, a disk that is full, a library that is missing."""

    def __init__(self, what, where="", remedy=""):
        text = f"{where}: {what}" if where else what
        super().__init__(f"{text} ({remedy})" if remedy else text)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __reduce__(self):
        return type(self), (self.what, self.where, self.remedy)


class UsageError(Error, ValueError):
    """A call that cannot be meant: an option that does not exist, or a value that it cannot have."""


class NotEquivalent(Error):
    """Two models do not compute the same; of `verify` with `report`, what was compared."""

    report = None


for _each in Error, UsageError, NotEquivalent:
    _each.__module__ = "regraft"  # as callers name them
