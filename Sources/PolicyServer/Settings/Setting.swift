import CheckListener

/// A setting of the server: its names, range, default and help.
///
/// ``all`` has each setting once. The reader, the help of `serve` and `deploy/versiongate.env` come from it.
package struct Setting: Sendable {
    /// Where a value is in the configuration.
    typealias Path<Value> = any WritableKeyPath<ServerConfiguration, Value> & Sendable

    /// The name in camel case, such as `maxConnections`.
    package let name: String
    /// What the help calls the value of the option; nil where only the environment has the setting.
    package let valueName: String?
    /// What the setting does, in a sentence or two.
    package let help: String
    /// What the documentation says beyond ``help``; may be empty.
    package let note: String
    /// The default as it would be written, or in words; nil where there is none.
    package let defaultText: String?
    /// The allowed values, in words; nil where ``help`` names them.
    package let range: String?
    private let store: @Sendable (String, inout ServerConfiguration) throws -> Void

    /// - Parameter parse: Reads the value; throws what is wrong with it, to stand behind the names of the setting.
    init<Value>(
        _ name: String,
        _ path: Path<Value>,
        option valueName: String? = nil,
        _ help: String,
        note: String = "",
        default defaultText: String?,
        range: String? = nil,
        parse: @escaping @Sendable (String) throws -> Value
    ) {
        (self.name, self.valueName, self.help, self.note) = (name, valueName, help, note)
        (self.defaultText, self.range) = (defaultText, range)
        store = { text, configuration in configuration[keyPath: path] = try parse(text) }
    }

    /// The environment variable: `VERSIONGATE_MAX_CONNECTIONS` of `maxConnections`.
    package var variable: String { "VERSIONGATE_" + words.joined(separator: "_").uppercased() }

    /// The option of `serve`: `--max-connections` of `maxConnections`; nil where only the environment has the setting.
    package var option: String? { valueName.map { _ in "--" + words.joined(separator: "-").lowercased() } }

    /// Reads the setting into a configuration, which keeps its default where the setting is not set or empty.
    ///
    /// - Throws: ``ConfigurationError`` that names the setting, its value and what it may be.
    func read(_ text: String?, into configuration: inout ServerConfiguration) throws(ConfigurationError) {
        guard let text, !text.isEmpty else { return }
        do {
            try store(text, &configuration)
        } catch {
            let names = option.map { "\($0) (\(variable))" } ?? variable
            // What has a syntax of its own quotes its value by itself.
            throw ConfigurationError("\(names)\(error is LimitSyntaxError ? ": " : "")\(error)")
        }
    }

    private var words: [String] {
        name.reduce(into: [""]) { words, character in
            if character.isUppercase { words.append("") }
            words[words.count - 1].append(character)
        }
    }
}

extension Setting {
    /// A host to listen on. A resolver takes `*` for this machine alone.
    static func host(_ name: String, _ path: Path<String>, option valueName: String, _ help: String) -> Setting {
        Setting(name, path, option: valueName, help, default: ServerConfiguration()[keyPath: path]) { text in
            if text == "*" {
                throw ConfigurationError(
                    " is \"*\"; write 0.0.0.0 for every IPv4 address of this machine, :: for every address"
                )
            }
            if text.hasPrefix("["), text.hasSuffix("]") {
                throw ConfigurationError(" is \"\(text)\"; write \(text.dropFirst().dropLast()), without brackets")
            }
            if text.contains(where: { "/ \t[]".contains($0) }) || text.count(where: { $0 == ":" }) == 1 {
                throw ConfigurationError(
                    " is \"\(text)\"; it must be a host name or an IP address alone; the port is a separate setting"
                )
            }
            return text
        }
    }

    /// What is off unless it is asked for; the option has no value.
    static func flag(_ name: String, _ path: Path<Bool>, _ help: String, note: String) -> Setting {
        Setting(name, path, option: "on", help, note: note, default: "off", range: "on, off") { text in
            guard ["on", "off"].contains(text) else {
                throw ConfigurationError(" is \"\(text)\"; it must be on or off")
            }
            return text == "on"
        }
    }

    static func choice<Value: CaseIterable & RawRepresentable<String> & Sendable>(
        _ name: String,
        _ path: Path<Value>,
        option valueName: String,
        _ help: String
    ) -> Setting {
        let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return Setting(name, path, option: valueName, help, default: ServerConfiguration()[keyPath: path].rawValue) {
            text in
            guard let value = Value(rawValue: text) else {
                throw ConfigurationError(" is \"\(text)\"; it must be one of \(words)")
            }
            return value
        }
    }

    static func number(
        _ name: String,
        _ path: Path<Int>,
        in range: ClosedRange<Int>,
        option valueName: String,
        _ help: String,
        note: String = ""
    ) -> Setting {
        let defaultText = String(ServerConfiguration()[keyPath: path])
        return number(name, path, in: range, option: valueName, help, note: note, default: defaultText) { $0 }
    }

    /// A whole number that is kept in another form.
    static func number<Value>(
        _ name: String,
        _ path: Path<Value>,
        in range: ClosedRange<Int>,
        option valueName: String,
        _ help: String,
        note: String = "",
        default defaultText: String,
        value: @escaping @Sendable (Int) -> Value
    ) -> Setting {
        let words = "\(range.lowerBound) to \(range.upperBound)"
        return Setting(name, path, option: valueName, help, note: note, default: defaultText, range: words) { text in
            guard let number = Int(text), range.contains(number) else {
                throw ConfigurationError(" is \"\(text)\"; it must be a whole number from \(words)")
            }
            return value(number)
        }
    }

    /// A time in seconds, which may have decimals.
    static func seconds(
        _ name: String,
        _ path: Path<Duration>,
        in range: ClosedRange<Double>,
        option valueName: String? = nil,
        _ help: String,
        note: String = ""
    ) -> Setting {
        func written(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? String(number) }
        let words = "\(written(range.lowerBound)) to \(written(range.upperBound))"
        let defaultText = written(ServerConfiguration()[keyPath: path] / .seconds(1))
        return Setting(name, path, option: valueName, help, note: note, default: defaultText, range: words) { text in
            guard let seconds = Double(text), range.contains(seconds) else {
                throw ConfigurationError(" is \"\(text)\"; it must be a number of seconds from \(words)")
            }
            return .seconds(seconds)
        }
    }
}
