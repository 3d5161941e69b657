import Foundation
import UpdatePolicy

/// A version that a store has.
struct StoreRelease: Sendable, Hashable, Codable {
    let version: String
    /// The least version of iOS.
    let minOS: String

    /// - Precondition: ``read(_:for:)`` made it, so that the version can be read.
    var parsed: AppVersion {
        guard let parsed = AppVersion(version) else { preconditionFailure("\(version) is no version") }
        return parsed
    }
}

extension StoreRelease {
    /// Whether its version does not follow from those that are known.
    ///
    /// The first number may be 1 or a hundredth above the greatest there is at its place, each other 20 or a quarter: so
    /// years, dates and counters of builds go on. A number of more than nine digits is known or follows from none.
    func leaps(above known: [AppVersion]) -> Bool {
        let known = known.compactMap { Self.numbers($0.text) }
        guard let numbers = Self.numbers(version) else { return true }
        return numbers.indices.contains { place in
            guard !known.isEmpty else { return numbers[place] > 999_999_999 }
            let greatest = known.map { place < $0.count ? $0[place] : 0 }.max() ?? 0
            return numbers[place] - greatest > (place == 0 ? max(1, greatest / 100) : max(20, greatest / 4))
        }
    }

    /// The numbers that a version begins with; nil if there is one that no store counts to.
    private static func numbers(_ version: String) -> [Int]? {
        let digits = version.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." }
        let numbers = digits.split(separator: ".").map { Int($0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }

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
            return .refused("its answer is not that of a look-up of the App Store")
        }
        guard let result = document.results.first else { return .absent }
        guard ASCII.lowercased(result.bundleId) == ASCII.lowercased(question.bundle) else {
            return .refused("its answer is about \(result.bundleId.cut())")
        }
        guard [nil, "software"].contains(result.kind) else {
            return .refused("its answer is about another platform (\(result.kind?.cut() ?? ""))")
        }
        // Without it the release would be a way out on every system.
        guard let least = result.minimumOsVersion, !least.isEmpty else {
            return .refused("its answer does not say which system \(result.version.cut()) needs")
        }
        for version in [result.version, least] where AppVersion(version) == nil {
            return .refused("\"\(version.cut())\" in its answer is not a version")
        }
        return .release(StoreRelease(version: result.version, minOS: least))
    }
}
