// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// The data files in `Tests/Vectors`, which fix the behaviour of everything that reads versions, ranges and clients.
enum Vectors {
    private struct File<Case: Decodable>: Decodable {
        let about: String
        let cases: [Case]
    }

    /// The cases of a file.
    static func cases<Case: Decodable>(_ name: String, as type: Case.Type = Case.self) throws -> [Case] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: folder.appending(path: "Vectors/\(name).json"))
        return try JSONDecoder().decode(File<Case>.self, from: data).cases
    }
}
