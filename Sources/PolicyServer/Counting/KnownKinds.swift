// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

/// The kinds of clients that checked in the last days: they are kept apart whatever else comes.
///
/// A kind is known by a hash of 64 bits with a secret, which nobody can aim at, so a kind takes a few bytes.
final class KnownKinds: Sendable {
    private let hashes: Set<Int>

    /// No kinds.
    static let none = KnownKinds([])

    /// These kinds.
    init(_ kinds: [ClientKind]) {
        hashes = Set(kinds.map { kind in kind.bytes.withUnsafeBytes { Self.hash($0) } })
    }

    /// How many kinds there are.
    var count: Int { hashes.count }

    /// Whether the kind with these bytes is among them.
    func contains(_ kind: UnsafeRawBufferPointer) -> Bool {
        !hashes.isEmpty && hashes.contains(Self.hash(kind))
    }

    private static func hash(_ kind: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: kind)
        return hasher.finalize()
    }
}
