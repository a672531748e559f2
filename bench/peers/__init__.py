"""Others who compute the same, measured beside us on the same edges; skipped where they are absent."""


class AbsentError(Exception):
    """A peer cannot run here; the message says why, as the note of a skipped figure."""
