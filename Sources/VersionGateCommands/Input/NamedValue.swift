// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A name and a value on the command line: `channel=beta`, `ios=https://...`.
struct NamedValue: Sendable {
    /// What stands before the first equals sign; never empty.
    let name: String
    /// What stands after it.
    let value: String

    private init?(_ argument: String) {
        let halves = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty else { return nil }
        name = String(halves[0])
        value = String(halves[1])
    }

    /// Reads a member of a check.
    static func member(_ argument: String) throws -> NamedValue {
        guard let value = NamedValue(argument) else {
            throw CommandError("write the name of a member, \"=\" and its value: version=1.1")
        }
        return value
    }

    /// Reads a value of an attribute.
    static func attribute(_ argument: String) throws -> NamedValue {
        guard let value = NamedValue(argument) else {
            throw CommandError("write the name of the attribute, \"=\" and a value: channel=beta")
        }
        let quotes = value.value.count > 1 && value.value.first == value.value.last && "'\"".contains(value.value.first ?? " ")
        let plain = quotes ? String(value.value.dropFirst().dropLast()) : String(value.value.drop { $0 == "=" })
        if plain != value.value {
            throw CommandError(
                "the value is \(value.value.shellWord); write \("\(value.name)=\(plain)".shellWord), or give such a value in SQL"
            )
        }
        if value.value.contains(",") {
            let each = value.value.split(separator: ",").map { "--attribute \("\(value.name)=\($0)".shellWord)" }
            throw CommandError(
                "several values in one; write each by itself: \(each.joined(separator: " "))"
            )
        }
        return value
    }

    /// Reads the link of a store.
    static func storeLink(_ argument: String) throws -> NamedValue {
        guard let value = NamedValue(argument), !value.name.contains("://") else {
            throw CommandError("write the platform, \"=\" and the link: ios=https://apps.apple.com/app/id123456789")
        }
        return value
    }
}
