/// Why a check cannot be answered: a fault in the members that describe the client.
package struct ClientError: Error, Sendable, Equatable {
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

    package init(member: String, reason: Reason) {
        self.member = member
        self.reason = reason
    }

    /// The fault and the member in a sentence; of a long name the first 64 characters.
    package var message: String {
        let name = member.count > 64 ? member.prefix(64) + "..." : member[...]
        switch reason {
        case .wrongType(let expected): return "member `\(name)` must be \(expected)"
        case .duplicate: return "member `\(name)` is there twice"
        case .tooLong(let maximum): return "member `\(name)` has more than \(maximum) bytes"
        case .tooManyAttributes(let maximum):
            return "member `\(name)` is one attribute too many; a check may have \(maximum)"
        case .missing: return "member `\(name)` is missing; it is the app's bundle or package identifier"
        }
    }

    package static let missingBundle = ClientError(member: "bundle", reason: .missing)
}

extension ClientError: CustomStringConvertible {
    package var description: String { message }
}
