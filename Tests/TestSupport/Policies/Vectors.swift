package import Foundation
import TestSystem

/// The data files in `Tests/Vectors`.
package enum Vectors {
    /// What a file of JSON holds.
    package static func decode<Content: Decodable>(
        _ name: String, as type: Content.Type = Content.self
    ) throws -> Content {
        try JSONDecoder().decode(type, from: data(name))
    }

    /// The bytes of a file.
    package static func data(_ name: String) throws -> Data {
        try Data(contentsOf: RepositoryFile.url("Tests/Vectors/\(name)"))
    }
}
