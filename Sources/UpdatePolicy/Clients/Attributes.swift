/// The members of a check that are no fields: the attributes, and the names of those that count as not sent.
///
/// The names and values lie among the bytes of the client. Names are found by a scan while they are few and by a hash
/// table beyond that, so that a check with thousands of members costs no more than its size.
struct Attributes: Sendable {
    private struct Member: Sendable {
        let name: TextRange
        let value: TextRange
    }

    private static let mostScanned = 16

    /// The most bytes of a name and of a value; an attribute with more counts as not sent.
    private static let longestName = 128
    private static let longestValue = 1_024

    /// The members, and behind them those of clients before, whose memory is used again.
    private var members: [Member] = []
    private var count = 0
    private var indexes: [UTF8Text: Int] = [:]

    private(set) var attributeCount = 0
    var isEmpty: Bool { count == 0 }

    mutating func removeAll() {
        count = 0
        if !indexes.isEmpty { indexes = [:] }
        attributeCount = 0
    }

    /// Adds a member; `false` where it is there already.
    ///
    /// - Parameter value: Where the value is; `nil` where it is none that an attribute can have.
    mutating func append(_ name: Range<Int>, _ value: Range<Int>?, in bytes: borrowing ByteWriter) -> Bool {
        guard isNew(name, in: bytes) else { return false }
        var range = TextRange.notSent
        if let value, !value.isEmpty, value.count <= Self.longestValue, name.count <= Self.longestName {
            range = TextRange(value)
            attributeCount &+= 1
        }
        let member = Member(name: TextRange(name), value: range)
        if count < members.count { members[count] = member } else { members.append(member) }
        count &+= 1
        if count == Self.mostScanned {
            for index in 0..<count { indexes[Self.text(members[index].name, in: bytes)] = index }
        } else if count > Self.mostScanned {
            indexes[Self.text(TextRange(name), in: bytes)] = count - 1
        }
        return true
    }

    /// Where the value of an attribute is; `nil` where it was not sent.
    func value(of name: UnsafeRawBufferPointer, in bytes: borrowing ByteWriter) -> TextRange? {
        if isEmpty { return nil }
        guard let index = bytes.withBytes({ index(of: name, among: $0) }), members[index].value != .notSent else {
            return nil
        }
        return members[index].value
    }

    @inline(__always)
    func forEach(in bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
        for index in 0..<count where members[index].value != .notSent {
            let member = members[index]
            body(
                UnsafeRawBufferPointer(rebasing: bytes[member.name.indices]),
                UnsafeRawBufferPointer(rebasing: bytes[member.value.indices])
            )
        }
    }

    private func isNew(_ name: Range<Int>, in bytes: borrowing ByteWriter) -> Bool {
        if isEmpty { return true }
        return bytes.withBytes { index(of: UnsafeRawBufferPointer(rebasing: $0[name]), among: $0) == nil }
    }

    private func index(of name: UnsafeRawBufferPointer, among bytes: UnsafeRawBufferPointer) -> Int? {
        if count >= Self.mostScanned { return indexes[UTF8Text(decoding: name)] }
        return members[..<count].firstIndex {
            UnsafeRawBufferPointer(rebasing: bytes[$0.name.indices]).hasSameBytes(as: name)
        }
    }

    private static func text(_ range: TextRange, in bytes: borrowing ByteWriter) -> UTF8Text {
        bytes.withBytes(range.indices) { UTF8Text(decoding: $0) }
    }
}
