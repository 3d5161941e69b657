import Testing
import UpdatePolicy

@testable import VersionGateCommands

@Suite("Figures")
struct FigureTests {
    @Test("Bars are as wide as a terminal leaves room for behind a table")
    func width() {
        var table = TextTable(["A", "B"])
        table.add([("12345678", nil), ("x", nil)])
        #expect(table.barWidth(on: .file) == nil, "no row has a bar")
        table.add([("1", nil), ("", nil)], bar: Bar(parts: [(0.5, "#", .green)]))
        #expect(table.barWidth(on: Terminal(width: 40, usesColor: false)) == 27)
        #expect(table.barWidth(on: Terminal(width: 120, usesColor: false)) == 40)
        #expect(table.barWidth(on: Terminal(width: 20, usesColor: false)) == nil)
        #expect(table.barWidth(on: .file) == 40)
        let lines = ["A         B", "12345678  x", "1            ##########.........."]
        #expect(table.text(on: Terminal(width: 33, usesColor: false)) == lines.joined(separator: "\n"))
        #expect(table.text(on: Terminal(width: 20, usesColor: false)) == "A         B\n12345678  x\n1")
    }

    @Test("Bars have the width that was asked for, with a mark for everything above nothing")
    func bars() {
        let plain = Terminal.file
        #expect(Bar(parts: [(0.5, "!", .red), (0.25, "#", .green)]).text(width: 8, on: plain) == "!!!!##..")
        #expect(Bar(parts: [(0.001, "!", .red), (0.999, "#", .green)]).text(width: 4, on: plain) == "!###")
        #expect(Bar(parts: [(0, "!", .red)]).text(width: 4, on: plain) == "....")
        #expect(Bar(parts: [(1, "!", .red), (0.1, "#", .green)]).text(width: 4, on: plain) == "!!!!")
        #expect(
            Bar(parts: [(1, "#", .green)]).text(width: 2, on: Terminal(width: 80, usesColor: true))
                == "\u{1B}[32m##\u{1B}[0m"
        )
    }

    @Test("A scale has a character at each value, and one of its own where values are together")
    func points() {
        let bar = Bar(
            parts: [(0, "A", .green), (1, "B", .cyan), (0.5, "C", .blue), (0.51, "D", .blue)], arePoints: true
        )
        #expect(bar.text(width: 9, on: .file) == "A...*...B")
    }

    @Test("Numbers of JSON have as many decimals as they need")
    func numbers() {
        #expect(12.0.jsonValue.text == "12")
        #expect(0.5.jsonValue.text == "0.5")
        #expect((1.0 / 3).jsonValue.text == "0.333333")
        #expect(0.000_04.jsonValue.text == "0.00004")
    }

    @Test("Names that are spelled nearly alike are suggested")
    func suggestions() {
        #expect(
            SimilarNames.of("upate-1.2", among: ["update-1.2", "update-1.3", "other"]) == ["update-1.2", "update-1.3"]
        )
        #expect(SimilarNames.of("maint", among: ["maintenance", "x"]) == ["maintenance"])
        #expect(SimilarNames.of("k", among: ["something"]).isEmpty)
    }
}
