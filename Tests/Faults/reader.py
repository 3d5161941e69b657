#!/usr/bin/env python3
"""Reads a named pipe, made as small as pipes can be, and prints what it reads.

reader.py PIPE
"""

import fcntl
import os
import sys

F_SETPIPE_SZ = 1031


def main():
    with open(sys.argv[1], "rb", buffering=0) as pipe:
        fcntl.fcntl(pipe, F_SETPIPE_SZ, 4096)
        while data := pipe.read(4096):
            os.write(1, data)


if __name__ == "__main__":
    main()
