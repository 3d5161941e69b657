// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// The data files in `Tests/Vectors`, which fix the behaviour of SQL and of the engine alike.
enum VectorFiles {
    private struct File<Case: Decodable>: Decodable {
        let cases: [Case]
    }

    /// The cases of a file that has an object with a list of cases.
    static func cases<Case: Decodable>(_ name: String, as type: Case.Type = Case.self) throws -> [Case] {
        try JSONDecoder().decode(File<Case>.self, from: data(name)).cases
    }

    /// The cases of a file that is a list of them.
    static func list<Case: Decodable>(_ name: String, as type: Case.Type = Case.self) throws -> [Case] {
        try JSONDecoder().decode([Case].self, from: data(name))
    }

    private static func data(_ name: String) throws -> Data {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: "Vectors/\(name).json"))
    }
}
