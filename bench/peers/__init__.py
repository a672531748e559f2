"""Others who compute the same, measured beside us on the same edges; skipped where absent."""


class AbsentError(Exception):
    """A peer cannot run here; the message says why, as the note of a skipped figure."""
