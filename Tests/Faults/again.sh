#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the versiongate authors
#
# again.sh COMMAND...: runs it again whenever it ends.
while true; do
    "$@"
    sleep 0.05
done
