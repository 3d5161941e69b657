/// Why a check cannot be answered: a fault in the members that describe the client.
package struct ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        /// The value is of another type than this one, told in words: "a string".
        case wrongType(expected: String)
        case duplicate
        case missing
        case tooLong(maximum: Int)
        /// The member is an attribute beyond the first so many.
        case tooManyAttributes(maximum: Int)
    }

    package let member: String
    package let reason: Reason

    /// The fault and the member in a sentence; of a long name the first 64 characters.
    package var description: String {
        let name = member.count > 64 ? member.prefix(64) + "..." : member[...]
        return switch reason {
        case .wrongType(let expected): "member `\(name)` must be \(expected)"
        case .duplicate: "member `\(name)` appears twice"
        case .tooLong(let maximum): "member `\(name)` has more than \(maximum) bytes"
        case .tooManyAttributes(let maximum):
            "member `\(name)` is one attribute too many; a check may have \(maximum)"
        case .missing: "member `\(name)` is missing; it is the app's bundle or package identifier"
        }
    }
}
