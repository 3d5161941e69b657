// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import TestPolicies
import Testing
import UpdateFeeds

@Suite("Client comparisons")
struct ComparisonTests {
    private struct Case: Decodable {
        let installed: String
        let offered: String
        /// By the client's id.
        let answers: [String: String]
    }

    @Test("Each client makes of two versions what the vectors say")
    func vectors() throws {
        let cases = try Vectors.cases("client-comparisons", as: Case.self)
        #expect(cases.count == 59)
        for pair in cases {
            #expect(Set(pair.answers.keys) == Set(ClientComparison.allCases.map(\.rawValue)))
            for client in ClientComparison.allCases {
                let answer = Self.answer(client, pair.installed, pair.offered)
                #expect(
                    answer == pair.answers[client.rawValue],
                    "\(client.rawValue): \(pair.installed) beside \(pair.offered)"
                )
            }
        }
    }

    /// The outcome in the words of the vectors.
    private static func answer(_ client: ClientComparison, _ installed: String, _ offered: String) -> String {
        switch client.outcome(installed: installed, offered: offered) {
        case .newer where client == .siren7:
            "newer \(ClientComparison.sirenUpdate(installed: installed, offered: offered).map { "\($0)" } ?? "")"
        case .newer where client == .androidSiren:
            "newer at \(client.updatedPart(installed: installed, offered: offered) ?? -1)"
        case .newer: "newer"
        case .older where client == .androidSiren, .equal where client == .androidSiren: "not newer"
        case .older: "older"
        case .equal: "equal"
        case .undecidable(let reason): reason.rawValue
        }
    }

    @Test("A part decides only for the clients that ask by it, and only where they take a version for an update")
    func updatedParts() {
        #expect(ClientComparison.siren7.updatedPart(installed: "1.2", offered: "1.2.0.1") == 3)
        #expect(ClientComparison.siren7.updatedPart(installed: "1.2", offered: "1.2") == nil)
        #expect(ClientComparison.sparkle.updatedPart(installed: "1.2", offered: "1.3") == nil)
        #expect(ClientComparison.sirenUpdate(installed: "1.2.3.4.5", offered: "1.2.3.4.6") == .revision)
        #expect(ClientComparison.sirenUpdate(installed: "2", offered: "1") == nil)
    }

    @Test(
        "A number that overflows ends a look-up with versionToInt, and a great one of Android-Siren is reached only in its turn"
    )
    func greatNumbers() {
        let great = "9223372036854775807.0"
        #expect(ClientComparison.versionToInt.outcome(installed: great, offered: "1.0") == .undecidable(.crash))
        #expect(ClientComparison.androidSiren.outcome(installed: "1.4294967296", offered: "2.0") == .newer)
        #expect(ClientComparison.appUpdater.outcome(installed: "1.4294967296", offered: "2.0") == .newer)
    }
}
