// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import Foundation
import Logging

/// The options that say how the server logs.
struct LogOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How messages are logged: text or json. (environment: VERSIONGATE_LOG_FORMAT; default: text)",
            valueName: "format"
        )
    )
    var logFormat: LogFormat?

    @Option(
        help: ArgumentHelp(
            "The least severe messages that are logged: trace, debug, info, notice, warning, error or critical. "
                + "(environment: VERSIONGATE_LOG_LEVEL; default: notice)",
            valueName: "level"
        )
    )
    var logLevel: String?

    /// What the server prints with.
    func output(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> ServerOutput {
        let format =
            try logFormat ?? Self.value(environment, "VERSIONGATE_LOG_FORMAT", LogFormat.init(rawValue:)) ?? .text
        let named = try logLevel.map { name in
            guard let level = Logger.Level(rawValue: name) else { throw Self.fault("--log-level", name, Self.levels) }
            return level
        }
        let level =
            try named ?? Self.value(environment, "VERSIONGATE_LOG_LEVEL", Logger.Level.init(rawValue:)) ?? .notice
        return ServerOutput(format, level: level)
    }

    private static let levels = Logger.Level.allCases.map(\.rawValue)

    private static func value<Value: CaseIterable & RawRepresentable<String>>(
        _ environment: [String: String],
        _ name: String,
        _ read: (String) -> Value?
    ) throws -> Value? {
        guard let text = environment[name], !text.isEmpty else { return nil }
        guard let value = read(text) else { throw fault(name, text, Value.allCases.map(\.rawValue)) }
        return value
    }

    private static func fault(_ name: String, _ value: String, _ allowed: [String]) -> ValidationError {
        ValidationError("\(name) is \"\(value)\"; it must be one of \(allowed.joined(separator: ", "))")
    }
}
