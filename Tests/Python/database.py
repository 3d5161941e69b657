"""The database behind the pages, through psql, as the owner of its tables."""

import csv
import io
import subprocess


class Database:
    def __init__(self, address):
        self.address = address

    def run(self, script):
        """Runs statements up to the first error."""
        self._psql(script, "--quiet")

    def rows(self, query):
        """The rows of a query, as lists of texts; an empty text is a null or an empty text."""
        return list(csv.reader(io.StringIO(self._psql(query, "--quiet", "--csv", "--tuples-only"))))

    def value(self, query):
        return self.rows(query)[0][0]

    def _psql(self, script, *options):
        command = ["psql", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", *options, "--file", "-", self.address]
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"psql: {done.stderr.strip()}\n{script[:2000]}")
        return done.stdout


def literal(text):
    """A text as a literal of SQL; None as NULL."""
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"
