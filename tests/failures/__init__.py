"""A process that goes on after a failure: of a system call, by a signal, of memory."""
