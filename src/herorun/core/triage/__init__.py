"""What a log says went wrong: signatures as data, one pass over the bytes, one root.

Pure: `herorun.signatures` reads the signatures, a command or a source reads the log.
"""
