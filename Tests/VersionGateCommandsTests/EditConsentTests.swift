// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing

@testable import VersionGateCommands

@Suite("The decision on consent")
struct EditConsentTests {
    @Test("is a question on a terminal, an error elsewhere, and nothing with --yes or without a reason")
    func decision() {
        for canAsk in [true, false] {
            #expect(EditConsent(reason: nil, yes: false, canAsk: canAsk) == .given)
            #expect(EditConsent(reason: "this locks out", yes: true, canAsk: canAsk) == .given)
        }
        #expect(
            EditConsent(reason: "this locks out", yes: false, canAsk: true) == .question("This locks out. Go on?")
        )
        guard case .missing(let error) = EditConsent(reason: "this locks out", yes: false, canAsk: false) else {
            Issue.record("consent is not missing")
            return
        }
        #expect(error.contains("this locks out"))
        #expect(error.contains("--yes"))
    }
}

@Suite("The terminal")
struct TerminalTests {
    private func terminal(_ isTerminal: Bool, _ environment: [String: String] = [:], width: Int? = nil) -> Terminal {
        Terminal(
            inputIsTerminal: isTerminal,
            outputIsTerminal: isTerminal,
            windowWidth: width,
            environment: environment
        )
    }

    @Test("has colours only if it is one, and NO_COLOR and TERM do not speak against them")
    func colours() {
        #expect(terminal(true).hasColours)
        #expect(!terminal(false).hasColours)
        #expect(!terminal(true, ["NO_COLOR": "1"]).hasColours)
        #expect(terminal(true, ["NO_COLOR": ""]).hasColours)
        #expect(!terminal(true, ["TERM": "dumb"]).hasColours)
        #expect(terminal(true).coloured("x", .red) == "\u{1B}[31mx\u{1B}[0m")
        #expect(terminal(false).coloured("x", .red) == "x")
    }

    @Test("is as wide as its window, or as COLUMNS says")
    func width() {
        #expect(terminal(true, ["COLUMNS": "70"], width: 120).width == 120)
        #expect(terminal(false, ["COLUMNS": "70"], width: 120).width == 70)
        #expect(terminal(false, ["COLUMNS": "3"]).width == 40)
        #expect(terminal(false, ["COLUMNS": "x"]).width == 80)
        #expect(terminal(false).width == 80)
    }

    @Test("gets bars of the width that was asked for, with a mark for everything above nothing")
    func bars() {
        let plain = terminal(false)
        #expect(Bar.text([(0.5, "!", .red), (0.25, "#", .green)], width: 8, on: plain) == "!!!!##..")
        #expect(Bar.text([(0.001, "!", .red), (0.999, "#", .green)], width: 4, on: plain) == "!###")
        #expect(Bar.text([(0, "!", .red)], width: 4, on: plain) == "....")
        #expect(Bar.text([(1, "!", .red), (0.1, "#", .green)], width: 4, on: plain) == "!!!!")
        #expect(Bar.text([(1, "#", .green)], width: 2, on: terminal(true)) == "\u{1B}[32m##\u{1B}[0m")
    }

    @Test("shows counts and shares so that something never looks like nothing")
    func numbers() {
        #expect(NumberText.count(0) == "0")
        #expect(NumberText.count(1_234_567) == "1,234,567")
        #expect(NumberText.percent(0, of: 10) == "0.0 %")
        #expect(NumberText.percent(1, of: 10_000_000) == "<0.1 %")
        #expect(NumberText.percent(9_999_999, of: 10_000_000) == ">99.9 %")
        #expect(NumberText.percent(1, of: 3) == "33.3 %")
        #expect(NumberText.percent(5, of: 5) == "100.0 %")
        #expect(NumberText.percent(5, of: 0) == "-")
        #expect(JSONText.number(12) == "12")
        #expect(JSONText.number(0.5) == "0.5")
        #expect(JSONText.number(1.0 / 3) == "0.333333")
        #expect(JSONText.number(0.000_04) == "0.00004")
    }

    @Test("suggests names that are spelled nearly alike")
    func suggestions() {
        #expect(SimilarNames.of("upate-1.2", among: ["update-1.2", "update-1.3", "other"]) == ["update-1.2", "update-1.3"])
        #expect(SimilarNames.of("maint", among: ["maintenance", "x"]) == ["maintenance"])
        #expect(SimilarNames.of("k", among: ["something"]).isEmpty)
    }
}
