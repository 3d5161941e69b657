// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The versions of an app that cannot be read, for programs: one object.
enum UnreadableVersionsJSON {
    static func text(_ unreadable: UnreadableVersions) -> String {
        let examples = unreadable.examples.map { example in
            JSONText.object(["version": JSONText.string(example.version), "checks": "\(example.checks)"])
        }
        return JSONText.object([
            "bundle": JSONText.string(unreadable.bundle), "checks": "\(unreadable.checks)",
            "share": JSONText.number(Double(unreadable.checks) / Double(max(1, unreadable.allChecks))),
            "examples": JSONText.array(examples),
        ])
    }
}
