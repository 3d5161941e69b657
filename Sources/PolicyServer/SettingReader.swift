// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Configuration

/// Reads settings as text and judges them, so that one that cannot be used is an error instead of a default.
struct SettingReader {
    private let config: ConfigReader

    init(_ config: ConfigReader) {
        self.config = config
    }

    /// A setting as it was written; nil when it is not set or empty.
    func text(_ name: String) -> String? {
        config.string(forKey: ConfigKey("versiongate.\(name)")).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A whole number in a range.
    func number(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(
                "\(variable(name)) is \"\(text)\"; it must be a whole number "
                    + "from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// A time in seconds, in a range.
    func seconds(_ name: String, in range: ClosedRange<Double>) throws(ConfigurationError) -> Duration? {
        guard let text = text(name) else { return nil }
        guard let seconds = Double(text), range.contains(seconds) else {
            throw ConfigurationError(
                "\(variable(name)) is \"\(text)\"; it must be a number of seconds "
                    + "from \(range.lowerBound) to \(Int(range.upperBound))"
            )
        }
        return .seconds(seconds)
    }

    /// The environment variable of a setting: `VERSIONGATE_MAX_CONNECTIONS` of `maxConnections`.
    private func variable(_ name: String) -> String {
        name.reduce(into: "VERSIONGATE_") { variable, character in
            if character.isUppercase { variable += "_" }
            variable += character.uppercased()
        }
    }
}
