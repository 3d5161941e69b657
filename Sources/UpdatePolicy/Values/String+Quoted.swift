extension String {
    /// The text as a word of a shell, in quotes where it needs them.
    package var shellWord: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || "-_./:=@%+,".unicodeScalars.contains(scalar)
        }
        return isPlain && !isEmpty ? self : "'\(doubling("'", with: #"'\''"#))'"
    }

    /// The text as a word of a shell that no command takes for an option.
    package var shellOperand: String { hasPrefix("-") ? "-- \(shellWord)" : shellWord }

    /// Whether an app can have this text as its bundle, as the database's `check_bundle` judges it.
    package var isBundleIdentifier: Bool {
        (1...255).contains(utf8.count) && utf8.allSatisfy { (33...126).contains($0) && $0 != 0x2C && $0 != 0x3B }
            && !contains("://") && !contains("..") && !hasPrefix(".") && !hasSuffix(".")
    }

    /// The text as a literal of SQL.
    package var sqlLiteral: String { "'\(doubling("'", with: "''"))'" }

    private func doubling(_ quote: Unicode.Scalar, with replacement: String) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if scalar == quote { text += replacement } else { text.unicodeScalars.append(scalar) }
        }
    }
}
