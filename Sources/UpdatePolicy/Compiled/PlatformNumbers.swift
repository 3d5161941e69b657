// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The numbers of the platforms that a policy names.
struct PlatformNumbers: Sendable {
    private var names: NameTable
    private let otherNamesOfIOS: Int32

    init(hashSeed: UInt64) {
        names = NameTable(hashSeed: hashSeed)
        _ = names.insert("ios")
        for name in Platform.otherNamesOfIOS { _ = names.insert(name) }
        otherNamesOfIOS = Int32(names.count)
    }

    /// The number of a platform; -1 where the policy does not name it.
    @inline(__always)
    func number(of platform: UTF8Text?) -> Int32 {
        guard let platform, let number = platform.string.withBytes({ names.number(of: $0) }) else { return -1 }
        return canonical(number)
    }

    /// The number of a platform, which is added where it is not known yet.
    mutating func insert(_ platform: String) -> Int32 {
        canonical(names.insert(platform))
    }

    @inline(__always)
    private func canonical(_ number: Int) -> Int32 {
        number < otherNamesOfIOS ? 0 : Int32(truncatingIfNeeded: number)
    }
}
