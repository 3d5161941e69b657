// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The members of a check that are not known ones: the attributes, and the names of those that count as not sent.
///
/// Names are found by a scan while they are few and by a hash table beyond that, so that a check with thousands of
/// members costs no more than its size.
struct OtherMembers: Sendable {
    private struct Member: Sendable {
        let name: UTF8Text
        let value: UTF8Text?
    }

    private static let mostScanned = 16

    private var members: [Member] = []
    private var positions: [UTF8Text: Int] = [:]

    /// How many of the members are attributes.
    private(set) var attributeCount = 0

    /// Adds a member; `false` where it is there already.
    mutating func append(_ name: UTF8Text, _ value: MemberValue) -> Bool {
        guard position(of: name) == nil else { return false }
        if members.isEmpty { members.reserveCapacity(4) }
        let text = name.string.utf8.count <= Client.maximumAttributeNameLength ? Self.text(of: value) : nil
        if text != nil { attributeCount &+= 1 }
        members.append(Member(name: name, value: text))
        if members.count == Self.mostScanned {
            for (position, member) in members.enumerated() { positions[member.name] = position }
        } else if members.count > Self.mostScanned {
            positions[name] = members.count - 1
        }
        return true
    }

    func value(_ name: UTF8Text) -> UTF8Text? {
        position(of: name).flatMap { members[$0].value }
    }

    var attributes: [(name: UTF8Text, value: UTF8Text)] {
        members.compactMap { member in member.value.map { (member.name, $0) } }
    }

    /// Calls `body` with the name and value of each attribute.
    @inline(__always)
    func forEachAttribute(_ body: (UTF8Text, UTF8Text) -> Void) {
        for member in members {
            if let value = member.value { body(member.name, value) }
        }
    }

    private func position(of name: UTF8Text) -> Int? {
        if members.count >= Self.mostScanned { return positions[name] }
        return members.firstIndex { $0.name == name }
    }

    private static func text(of value: MemberValue) -> UTF8Text? {
        switch value {
        case .text(let text), .number(let text):
            text.isEmpty || text.string.utf8.count > Client.maximumAttributeValueLength ? nil : text
        case .boolean(let boolean): boolean ? "true" : "false"
        case .null, .composite: nil
        }
    }
}
