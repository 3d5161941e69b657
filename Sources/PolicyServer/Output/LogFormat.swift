// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How log messages are written: one line each.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: the time (UTC), the level, the message, and its metadata as `key=value`.
    case text
    /// For programs that collect logs: an object with `time`, `level`, `message` and `metadata`.
    case json
}
