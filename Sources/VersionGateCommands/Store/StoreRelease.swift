// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import UpdatePolicy

/// A version that a store has.
struct StoreRelease: Sendable, Hashable, Codable {
    let version: String
    /// The least version of iOS.
    let minOS: String?

    /// - Precondition: ``read(_:for:)`` made it, so that the version can be read.
    var parsed: AppVersion {
        guard let parsed = AppVersion(version) else { preconditionFailure("\(version) is no version") }
        return parsed
    }
}

extension StoreRelease {
    /// An answer of the look-up, as far as it is read.
    private struct Document: Decodable {
        let results: [Result]

        struct Result: Decodable {
            let bundleId: String
            let version: String
            let kind: String?
            let minimumOsVersion: String?
        }
    }

    /// Reads the body of an answer.
    static func read(_ body: Data, for question: StoreQuestion) -> StoreAnswer {
        guard let document = try? JSONDecoder().decode(Document.self, from: body) else {
            return .failed("its answer is not that of a look-up of the App Store")
        }
        guard let result = document.results.first else { return .ignored("it does not have the app") }
        guard ASCII.lowercased(result.bundleId) == ASCII.lowercased(question.bundle) else {
            return .ignored("its answer is about \(result.bundleId)")
        }
        guard [nil, "software"].contains(result.kind) else {
            return .ignored("its answer is about another platform (\(result.kind ?? ""))")
        }
        let least = result.minimumOsVersion.flatMap { $0.isEmpty ? nil : $0 }
        for version in [result.version, least].compactMap(\.self) where AppVersion(version) == nil {
            return .failed("\"\(version.prefix(64))\" in its answer is not a version")
        }
        return .release(StoreRelease(version: result.version, minOS: least))
    }
}
