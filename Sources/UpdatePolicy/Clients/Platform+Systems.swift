extension Platform {
    /// The numbers that no system of the platform ever had, though clients send them: Darwin's, those that programs of old
    /// SDKs are told, and Android's API levels.
    ///
    /// In SQL `versiongate_internal.is_system` says the same.
    var numbersOfNoSystem: VersionInterval { Self.numbersOfNoSystem[name] ?? .none }

    private static let numbersOfNoSystem = ["ios": ">=19.x <26.x", "macos": ">=16.x <26.x", "android": ">=20.x"]
        .compactMapValues { VersionRange($0)?.intervals.first }

    /// The numbers that the version of the system begins with which has a major version of Apple's kernel.
    package func system(ofDarwin major: Int) -> String? {
        switch name {
        // Darwin 15 is iOS 9, 24 is iOS 18; with 25 systems took the number of the year to come.
        case "ios": return (15...24).contains(major) ? "\(major - 6)" : major == 25 ? "26" : nil
        case "macos":
            if (15...19).contains(major) { return "10.\(major - 4)" }
            return (20...24).contains(major) ? "\(major - 9)" : major == 25 ? "26" : nil
        default: return nil
        }
    }

    /// The Android that has an API level, from the first level that is no version of Android.
    private static let systemsOfAPILevels = [
        20: "4.4W", 21: "5.0", 22: "5.1", 23: "6.0", 24: "7.0", 25: "7.1", 26: "8.0", 27: "8.1", 28: "9", 29: "10",
        30: "11", 31: "12", 32: "12L", 33: "13", 34: "14", 35: "15", 36: "16",
    ]

    /// What a number that no system of the platform ever had looks like: `21.6.0 is no macOS: Darwin's 21 is macOS 12`.
    func look(ofNoSystem os: AppVersion) -> String {
        let major = os.numbers.first.flatMap { Int($0) } ?? 0
        let look: String? =
            if name == "android" {
                Self.systemsOfAPILevels[major].map { "API level \(major) is Android \($0)" }
            } else if name == "macos", major == 16, os.text.split(separator: ".").count < 3 {
                "what macOS 26 tells programs of an old SDK"
            } else {
                system(ofDarwin: major).map { "Darwin's \(major) is \(displayName) \($0)" }
            }
        return "\(os.text) is no \(displayName)" + (look.map { ": \($0)" } ?? "")
    }
}

extension Client {
    /// The version of its operating system as releases are judged by it; `nil` where it cannot be judged.
    var system: VersionKey? { sentNumberOfNoSystem ? nil : osKey }

    /// Whether the version of its operating system is one that none of its platform ever had.
    var sentNumberOfNoSystem: Bool {
        guard let osKey, let platform else { return false }
        return platform.numbersOfNoSystem.contains(osKey)
    }
}
