// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Configuration

extension CountingConfiguration {
    /// Reads the configuration; the keys are told at `ServerConfiguration`.
    ///
    /// - Throws: ``ConfigurationError`` that names the option and the value.
    init(_ config: ConfigReader) throws(ConfigurationError) {
        let seconds = try Self.number(
            config,
            "versiongate.countInterval",
            named: "--count-interval (VERSIONGATE_COUNT_INTERVAL)",
            within: 0...3_600
        )
        let kinds = try Self.number(
            config,
            "versiongate.countKeys",
            named: "--count-keys (VERSIONGATE_COUNT_KEYS)",
            within: 0...10_000_000
        )
        let days = try Self.number(
            config,
            "versiongate.countDays",
            named: "--count-days (VERSIONGATE_COUNT_DAYS)",
            within: 1...36_500
        )
        self.init()
        if let seconds { interval = seconds == 0 ? nil : .seconds(seconds) }
        if let kinds { maximumKinds = kinds }
        if let days { daysKept = days }
    }

    private static func number(
        _ config: ConfigReader,
        _ key: ConfigKey,
        named name: String,
        within range: ClosedRange<Int>
    ) throws(ConfigurationError) -> Int? {
        guard let text = config.string(forKey: key) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(
                "\(name) is \"\(text)\"; it must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}
