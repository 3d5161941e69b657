// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The members of a check that are no fields: the attributes, and the names of those that count as not sent.
///
/// Names are found by a scan while they are few and by a hash table beyond that, so that a check with thousands of
/// members costs no more than its size.
struct Attributes: Sendable {
    private struct Member: Sendable {
        let name: TextRange
        let value: TextRange
    }

    private static let mostScanned = 16

    private var members: [Member] = []
    /// The names and values one after the other, in UTF-8.
    private var bytes: [UInt8] = []
    private var indexes: [UTF8Text: Int] = [:]

    /// How many of the members are attributes.
    private(set) var attributeCount = 0

    /// Forgets all members, and keeps the memory.
    mutating func removeAll() {
        if members.isEmpty { return }
        members.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        if !indexes.isEmpty { indexes = [:] }
        attributeCount = 0
    }

    /// Adds a member; `false` where it is there already.
    mutating func append(_ name: UnsafeRawBufferPointer, _ value: MemberBytes) -> Bool {
        guard index(of: name) == nil else { return false }
        let text = name.count <= Client.maximumAttributeNameLength ? Self.text(of: value) : nil
        if text != nil { attributeCount &+= 1 }
        members.append(Member(name: append(name), value: text.map { append($0) } ?? .notSent))
        if members.count == Self.mostScanned {
            for index in members.indices { indexes[self.name(of: index)] = index }
        } else if members.count > Self.mostScanned {
            indexes[UTF8Text(decoding: name)] = members.count - 1
        }
        return true
    }

    /// Calls `body` with the value of an attribute; `nil` where it was not sent.
    func withValue<Result>(of name: UTF8Text, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard let index = name.string.withBytes({ index(of: $0) }), members[index].value != .notSent else { return nil }
        return withBytes(members[index].value, body)
    }

    /// Calls `body` with the name and value of each attribute.
    @inline(__always)
    func forEach(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
        for member in members where member.value != .notSent {
            withBytes(member.name) { name in withBytes(member.value) { value in body(name, value) } }
        }
    }

    private mutating func append(_ text: UnsafeRawBufferPointer) -> TextRange {
        let start = bytes.count
        bytes.append(contentsOf: text)
        return TextRange(start: start, end: bytes.count)
    }

    private func index(of name: UnsafeRawBufferPointer) -> Int? {
        if members.isEmpty { return nil }
        if members.count >= Self.mostScanned { return indexes[UTF8Text(decoding: name)] }
        return members.firstIndex { member in withBytes(member.name) { $0.hasSameBytes(as: name) } }
    }

    private func name(of index: Int) -> UTF8Text {
        withBytes(members[index].name) { UTF8Text(decoding: $0) }
    }

    @inline(__always)
    private func withBytes<Result>(_ range: TextRange, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range.indices])) }
    }

    private static func text(of value: MemberBytes) -> UnsafeRawBufferPointer? {
        switch value {
        case .text(let text), .number(let text):
            text.isEmpty || text.count > Client.maximumAttributeValueLength ? nil : text
        case .boolean(let boolean):
            boolean ? bytes(of: "true") : bytes(of: "false")
        case .null, .composite: nil
        }
    }

    private static func bytes(of literal: StaticString) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
    }
}
