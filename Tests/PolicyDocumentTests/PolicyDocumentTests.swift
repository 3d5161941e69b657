import Foundation
import PolicyDocument
import Testing
import UpdatePolicy

@Suite("Policy document")
struct PolicyDocumentTests {
    private func read(_ text: String) throws -> Policy {
        try PolicyDocument(Array(text.utf8)).policy
    }

    private func faults(_ bytes: [UInt8]) -> [String] {
        do {
            _ = try PolicyDocument(bytes)
            return []
        } catch {
            return error.faults.map { $0.description(file: "policy.yaml") }
        }
    }

    @Test(
        "The reader refuses a faulty file with each fault, its line, its column and what to do",
        arguments: RefusedFile.all
    )
    func refuses(_ refused: RefusedFile) {
        #expect(faults(Array(refused.file.utf8)) == refused.faults)
    }

    @Test("There are vectors of faulty files")
    func hasVectors() {
        #expect(RefusedFile.all.count >= 35)
        #expect(RefusedFile.all.allSatisfy { !$0.faults.isEmpty })
    }

    @Test("The reader takes scalars as they are written: NO is Norway, 1.10 is 1.10, on is a text")
    func keepsScalars() throws {
        let policy = try read(
            """
            versiongate: 1
            apps:
              no:
                name: on
                note: 1_000
                releases: [{version: 1.10, platform: iPadOS, build: 0x1F, regions: [NO, "US"]}]
            rules:
              1.10: {bundle: NO, title: yes, text: 12:30:45, versions: 1.10, rollout: 5.50%, soak: 1d12h, languages: [NO, iw-IL, de], attributes: {n: [1.0, true]}}
            """
        )
        let app = policy.rows(of: .apps)[0]
        #expect(app["bundle"] == .text("no"))
        #expect(app["name"] == .text("on"))
        #expect(app["note"] == .text("1_000"))
        #expect(policy.rows(of: .releases)[0]["version"] == .text("1.10"))
        #expect(policy.rows(of: .releases)[0]["platform"] == .text("ios"))
        #expect(policy.rows(of: .releases)[0]["build"] == .text("0x1F"))
        #expect(policy.rows(of: .releases)[0]["regions"] == .texts(["NO", "US"]))
        let rule = policy.rows(of: .rules)[0]
        #expect(rule["key"] == .text("1.10"))
        #expect(rule["bundle"] == .text("no"), "the app's own spelling")
        #expect(rule["title"] == .text("yes"))
        #expect(rule["languages"] == .texts(["nb", "he-IL", "de"]), "in the form that is stored")
        #expect(rule["text"] == .text("12:30:45"))
        #expect(rule["rollout"] == .percentage(Percentage(hundredths: 550) ?? .zero))
        #expect(rule["soak"] == .duration(DayTimeInterval(days: 1, microseconds: 43_200_000_000)))
        #expect(rule["attributes"] == .attributes(["n": .among(["1.0", "true"])]))
    }

    @Test("The reader takes what a list holds twice once, as the database does")
    func keepsEachItemOnce() throws {
        let policy = try read(
            """
            versiongate: 1
            apps: {a: {releases: [{version: 1, platform: ios, regions: [US, JP, US]}]}}
            rules: {k: {title: t, text: x, platforms: [iOS, android, iPadOS], regions: [JP, JP], languages: [de, zh, de]}}
            """
        )
        #expect(policy.rows(of: .releases)[0]["regions"] == .texts(["US", "JP"]))
        #expect(policy.rows(of: .rules)[0]["platforms"] == .texts(["ios", "android"]))
        #expect(policy.rows(of: .rules)[0]["regions"] == .texts(["JP"]))
        #expect(policy.rows(of: .rules)[0]["languages"] == .texts(["de", "zh"]))
    }

    @Test("The reader takes null as absence alone, and null in quotation marks as a text")
    func readsAbsence() throws {
        let policy = try read(
            """
            versiongate: 1
            apps: {a: , b: ~, c: null, d: {name: "null", note: ""}, e: {name: Null, releases: , store_links: ~}}
            rules:
            """
        )
        #expect(policy.rows(of: .apps).map { $0["name"] } == [.null, .null, .null, .text("null"), .null])
        #expect(policy.rows(of: .apps)[3]["note"] == .text(""))
        #expect(policy.rows(of: .rules).isEmpty)
    }

    @Test("The reader compares keys by their bytes, as the database does")
    func keepsNamesApart() throws {
        let policy = try read(
            "versiongate: 1\napps: {}\nrules: {k: {title: T, text: X, attributes: {\u{E9}: [a], e\u{301}: [b]}}}\n"
        )
        #expect(
            policy.rows(of: .rules)[0]["attributes"]
                == .attributes(["\u{E9}": .among(["a"]), "e\u{301}": .among(["b"])]))
    }

    @Test("The reader refuses bytes that are not UTF-8, and a file that is too large, before it looks at anything else")
    func refusesBytes() {
        #expect(
            faults(Array("versiongate: 1\n# \u{E9}".utf8) + [0xC3, 0x28]) == [
                "policy.yaml:2:4: not UTF-8: the byte 0xC3\nHint: Save the file in UTF-8."
            ]
        )
        let file = "versiongate: 1\napps: {}\nrules: {}\n...\n"
        for bigEndian in [true, false] {
            let words = file.utf16.flatMap {
                bigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
            }
            for mark in [[], bigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]] as [[UInt8]] {
                #expect(faults(mark + words) == ["policy.yaml:1:1: the file is UTF-16\nHint: Save the file in UTF-8."])
            }
        }
        let large = faults(Array(repeating: UInt8(ascii: "#"), count: PolicyDocument.largestFile + 1))
        #expect(large.count == 1 && large[0].contains("more than the 16777216 that are read"))
    }

    @Test("The reader skips the mark before UTF-8, whatever the first line is, and counts columns without it")
    func skipsTheMark() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for first in ["", "# a\n", "---\n"] {
            for end in ["\n", "\r\n"] {
                let text = "\(first)versiongate: 1\napps: {}\nrules: {}\n...\n".replacing("\n", with: end)
                let document = try PolicyDocument(mark + Array(text.utf8))
                #expect(document.hasEndMark && document.policy.rules.isEmpty)
            }
        }
        #expect(
            faults(mark + Array("versiongate: 2\napps: {}\nrules: {}\n".utf8)).first?.hasPrefix("policy.yaml:1:14")
                == true
        )
    }

    @Test("The reader reads what nests and repeats without end in no time", .timeLimit(.minutes(20)))
    func survivesBombs() {
        let nested = "versiongate: 1\nrules: " + String(repeating: "{a: ", count: 1_000_000)
        #expect(faults(Array(nested.utf8)).count == 1)
        let blocks = (0..<2000).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(faults(Array(blocks.utf8)).count == 1)
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...40 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            bomb += "a\(level): &a\(level) [\(aliases)]\n"
        }
        #expect(faults(Array((bomb + "? *a40\n: 1\n").utf8)).count == 1)
    }

    @Test(
        "Lengths of time are read, and written in whole days and what is left of one",
        arguments: [
            ("2 days", "2 days"), ("36h", "1 day 12 hours"), ("1d12h", "1 day 12 hours"), ("1 week", "7 days"),
            ("1 day -1 hour", "23 hours"), ("-1 day 1 hour", "-23 hours"), ("12:30", "12 hours 30 minutes"),
            ("0.5s", "0.5 seconds"),
            ("-00:00:01", "-1 second"), ("0", nil), ("2 months", nil), ("1.5 days", nil), ("days", nil), ("", nil),
            ("1h 2", nil),
            ("99999999999999999999 days", nil), ("9999999999 weeks", nil), ("0 seconds", "0 seconds"),
        ] as [(String, String?)]
    )
    func readsDurations(_ text: String, _ written: String?) {
        #expect(DayTimeInterval(text)?.description == written)
    }

    @Test(
        "A policy is written for people: blocks for lines, quotation marks where a reader would err, defaults left out"
    )
    func writes() throws {
        let text = """
            # The policy at revision 41: every app, release and rule, without the history.
            # To see what this file would change: versiongate plan FILE
            # To change it: versiongate apply FILE
            versiongate: 1

            apps:
              com.example.doto:
                name: Doto
                store_links:
                  ios: https://apps.apple.com/app/id123456789
                releases:
                  - version: "1.10"
                    platform: ios
                    min_os: "15"
                    regions: [JP, "NO", US]
                    live_at: 2026-03-01T12:00:00Z

              com.example.todo: {}

            rules:
              maintenance:
                ends_at: 2026-03-01T14:00:00.250000Z
                title: Maintenance
                text: |-
                  We are back at 14:00.

                  {app} keeps what you wrote.
                lockout: true
                lockout_without_update: true
                note: "yes"

              update-1.10:
                bundle: com.example.doto
                enabled: true
                versions: ">=1.1 <1.10"
                attributes:
                  channel: [beta, "on"]
                  stamp: {range: ">=45 <60"}
                  tier: {not: [staff, "no"]}
                  "yes": ["1.0"]
                target: "1.10"
                soak: 2 days
                steps:
                  - at: 2026-03-01T12:00:00Z
                    rollout: 5
                  - at: 2026-03-02T12:00:00Z
                    rollout: 100
                title: "{app} {target} is there"
                text: Please update
                link: store
                texts:
                  de:
                    title: "{app} {target} ist da"
                    text: Bitte aktualisieren
                  nb:
                    title: Oppdater
                    text: Takk
            ...

            """
        let policy = try read(text)
        #expect(PolicyDocument.text(of: policy, revision: 41) == text)
    }

    @Test("The reader demands both keys, empty or not, and knows whether the mark of the end is there")
    func wholeFiles() throws {
        for (file, missing) in [("apps: {}", "rules"), ("rules: {}", "apps"), ("rules: []", "apps")] {
            #expect(
                faults(Array("versiongate: 1\n\(file)\n...\n".utf8)) == [
                    "policy.yaml:1:1: the key \(missing) is missing, as in a file that was cut off\n"
                        + "Hint: Write \(missing): {} if there are to be none."
                ]
            )
        }
        for (end, isThere) in [("", false), ("...\n", true), ("...", true), ("# ...\n", false)] {
            let document = try PolicyDocument(Array("versiongate: 1\napps: []\nrules: []\n\(end)".utf8))
            #expect(document.hasEndMark == isThere, "\(end)")
            #expect(document.policy.apps.isEmpty && document.policy.rules.isEmpty)
        }
        let policy = try PolicyDocument(Array("versiongate: 1\napps: {a: }\nrules: {k: {title: t, text: x}}".utf8))
            .policy
        let text = PolicyDocument.text(of: policy, revision: 1)
        #expect(text.hasSuffix("\n...\n"))
        for length in 1..<text.utf8.count - 3 {
            let cut = try? PolicyDocument(Array(text.utf8.prefix(length)))
            #expect(cut?.hasEndMark != true, "\(length)")
        }
    }
}
