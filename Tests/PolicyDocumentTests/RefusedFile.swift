import TestPolicies
import Testing

/// A policy file that cannot be read, and what is said of it.
struct RefusedFile: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let file: String
    /// The faults as people see them, each with its hint on a second line.
    let faults: [String]

    var testDescription: String { name }

    static let all = (try? Vectors.decode("policy-files/refused.json", as: [RefusedFile].self)) ?? []
}
