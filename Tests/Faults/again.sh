#!/usr/bin/env bash
# again.sh COMMAND...: runs it again whenever it ends.
while true; do
    "$@"
    sleep 0.05
done
