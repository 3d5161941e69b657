import UpdatePolicy

extension UsageFault {
    /// What the parser would take for something else than was meant, or refuse for another reason, nil for nothing; and what
    /// may be meant, and probably is not.
    var judgement: (mistake: String?, warnings: [String]) {
        if let unknown, unknown != "help" { return (unknownCommand(unknown), []) }
        guard path.count > 1, !asksForHelp,
            rest.count(where: { $0.hasPrefix("-") }) > 1 || rest.contains(where: Self.isSuspicious)
        else { return (nil, []) }
        let options = options
        let given = options.parted(rest)
        let mistake =
            versionTaken(given, options) ?? longDash(given) ?? negative(given, options) ?? shortOptions(given, options)
            ?? repeated(given)
            ?? given.lazy.compactMap(wrongValue).first
        return (mistake, warnings(given))
    }

    private func warnings(_ given: [CommandOptions.Word]) -> [String] {
        given.compactMap { word in
            guard let value = word.value else { return nil }
            if word.text == "--attribute", let match = value.wholeMatch(of: /[^=]+=(True|TRUE|False|FALSE|.*\*)/) {
                let cure = match.1.last == "*" ? "write each value" : "a boolean is \(match.1.lowercased())"
                return "--attribute \(value) is compared letter by letter, without wildcards; \(cure)"
            }
            guard Self.texts.contains(word.text) else { return nil }
            if word.text == "--text", value.wholeMatch(of: /@\S+/) != nil {
                return "--text is \(value), and no file is read; write --text \"$(cat \(value.dropFirst()))\""
            }
            if value.contains("\\n") {
                return "\(word.text) has \\n in it, two characters that are shown as they are; a new line is written: "
                    + "\(word.text) $\(value.shellWord.hasPrefix("'") ? value.shellWord : "'\(value)'")"
            }
            guard let first = value.first, let last = value.last, value.count > 2, Self.curlyQuotes.contains(first),
                Self.curlyQuotes.contains(last)
            else { return nil }
            return "the curly quotes of \(value) are part of \(word.text); without them: "
                + "\(word.text) \(Self.withoutCurlyQuotes(value).shellWord)"
        }
    }

    /// The options whose value is a text in which every letter may be meant.
    static let texts = names([.text]) + ["--why", "--search"]
    /// The options whose value is a version or a range.
    private static let versions = names([.version, .range])
    /// The options that are given once for each value.
    private static let lists = names([.texts]) + platforms
    private static let platforms = names([.platforms])

    /// The options for columns of some types.
    private static func names(_ types: Set<ColumnType>) -> [String] {
        func names<Record: EditableRecord>(_: Record.Type) -> [String] {
            Record.options.filter { types.contains($0.column.type) }.flatMap { [$0.name, $0.nameInEdit ?? $0.name] }
        }
        return (names(App.self) + names(Release.self) + names(Rule.self)).map { "--\($0)" }
    }

    /// Whether a word is worth a closer look.
    private static func isSuspicious(_ word: String) -> Bool {
        word.hasPrefix("--version")
            || word.hasPrefix("-") && !word.hasPrefix("--") && (word.count > 2 || word.last?.isNumber == true)
            || word.contains { !$0.isASCII || "\\, ".contains($0) }
    }

    /// `--version` behind a command.
    private func versionTaken(_ given: [CommandOptions.Word], _ options: CommandOptions) -> String? {
        guard given.contains(where: { $0.text == "--version" }) else { return nil }
        let cure =
            if path.last == "psql" {
                "For that of psql: \(commandLine(["--", "--version"]))"
            } else if options.names.contains("--versions") {
                "Did you mean '--versions'?"
            } else if path.last == "check" {
                "The version of a client is a member: version=1.1"
            } else if options.positionals.contains(where: { $0.valueName == "version" }) {
                "The version of an app stands without an option behind the app: \(commandLine(["BUNDLE", "VERSION"]))"
            } else {
                "Leave it out."
            }
        return
            "--version shows the version of this program, and stands in front of a command: versiongate --version. \(cure)"
    }

    /// A long dash in the place of two hyphens.
    private func longDash(_ given: [CommandOptions.Word]) -> String? {
        for word in given where word.option == nil {
            guard let match = word.text.wholeMatch(of: /[—–−][—–−-]*([A-Za-z].*)/) else { continue }
            return "\"\(word.text)\" begins with a long dash, which some programs make of two hyphens; "
                + "write --\(match.1)"
        }
        return nil
    }

    /// Letters behind one hyphen, of which the parser takes an h for a question for help.
    private func shortOptions(_ given: [CommandOptions.Word], _ options: CommandOptions) -> String? {
        let isCluster = given.contains { word in
            word.option == nil && word.text.count > 2 && word.text.hasPrefix("-") && !word.text.hasPrefix("--")
        }
        return isCluster ? unknownOption(given, options) : nil
    }

    /// An option that takes one value and is there twice, or a flag and its opposite.
    private func repeated(_ given: [CommandOptions.Word]) -> String? {
        for (index, word) in given.enumerated() {
            guard let option = word.option else { continue }
            let opposite =
                word.text.hasPrefix("--no-") ? "--\(word.text.dropFirst(5))" : "--no-\(word.text.dropFirst(2))"
            if !option.takesValue, given[..<index].contains(where: { $0.option != nil && $0.text == opposite }) {
                return "\(word.text) is the opposite of \(opposite); leave one of the two out"
            }
            guard option.takesValue, !option.isRepeating,
                let earlier = given[..<index].first(where: { option.typedNames.contains($0.text) })
            else { continue }
            let values = [earlier, word].compactMap(\.value).map(\.shellWord).joined(separator: " and ")
            return "\(word.text) is given twice, with \(values), and takes one value; leave one of the two out"
        }
        return nil
    }

    /// A value with letters that a word processor made, or several values in one.
    private func wrongValue(_ word: CommandOptions.Word) -> String? {
        guard let value = word.value, let option = word.option else { return nil }
        let name = word.text
        if Self.lists.contains(name) {
            let all = ["all", "any", "every", "world", "*"]
            if option.isOptional, name != "--language", all.contains(value.lowercased()) {
                return "\(name) is \(value.shellWord), and takes one by its name; for all of them leave \(name) out"
            }
            if value.hasPrefix("!") || value.hasPrefix("not ") {
                return "\(name) is \(value.shellWord), and takes what is meant; write the others, each by itself"
            }
            let isPlatform = Self.platforms.contains(name)
            let values = value.split { (isPlatform ? ", /+&" : ", ").contains($0) }.map(String.init)
                .filter { !isPlatform || $0 != "and" }
            if isPlatform, !value.contains(",") {
                // The name of a platform may have blanks in it: Android TV.
                if values.count == 2, Platform.wellKnown.contains(Platform(values[0]).name),
                    values[1].first?.isNumber == true
                {
                    return "\(name) is \(value.shellWord); the version of the system is a condition of its own: "
                        + "\(name) \(values[0]) --os '>=\(values[1])'"
                }
                guard values.allSatisfy({ Platform.wellKnown.contains(Platform($0).name) }) else { return nil }
            }
            guard values.count > 1 else { return nil }
            guard option.isRepeating else {
                return "\(name) is \(value.shellWord), and takes one; repeat the command for each"
            }
            return "\(name) is \(value.shellWord); write each by itself: "
                + values.map { "\(name) \($0.shellWord)" }.joined(separator: " ")
        }
        let isVersion = Self.versions.contains(name)
        guard !Self.texts.contains(name),
            let letter = value.first(where: { character in
                Self.curlyQuotes.contains(character) || isVersion && !character.isASCII
            })
        else { return nil }
        let code = letter.unicodeScalars.first.map { String($0.value, radix: 16, uppercase: true) } ?? ""
        let meant = Self.withoutCurlyQuotes(value).map { Self.inASCII[$0] ?? String($0) }.joined()
        let cure = meant.utf8.allSatisfy { $0 < 0x80 } ? "write \(name) \(meant.shellWord)" : "write it in ASCII"
        return
            "\(name) is \"\(value)\", where \"\(letter)\" (U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)) "
            + "is no character of a command line; \(cure)"
    }

    /// What is written for letters that are not on every keyboard.
    private static let inASCII: [Character: String] = [
        "≤": "<=", "≥": ">=", "≠": "!=", "–": "-", "—": "-", "−": "-", "\u{A0}": " ", "\u{202F}": " ",
    ]
}
