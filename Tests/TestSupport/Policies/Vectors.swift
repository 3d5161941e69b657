package import Foundation
import TestSystem

/// The data files in `Tests/Vectors`, which fix the behaviour of SQL and of the engine alike.
package enum Vectors {
    private struct File<Case: Decodable>: Decodable {
        let about: String
        let cases: [Case]
    }

    /// The cases of a file that says what it is about.
    package static func cases<Case: Decodable>(_ name: String, as type: Case.Type = Case.self) throws -> [Case] {
        try decode("\(name).json", as: File<Case>.self).cases
    }

    /// What a file of JSON holds.
    package static func decode<Content: Decodable>(_ name: String, as type: Content.Type = Content.self) throws
        -> Content
    {
        try JSONDecoder().decode(type, from: data(name))
    }

    /// The bytes of a file.
    package static func data(_ name: String) throws -> Data {
        try Data(contentsOf: RepositoryFile.url("Tests/Vectors/\(name)"))
    }
}
