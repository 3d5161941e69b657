// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A way in which update clients compare the version that is installed with the one that a document offers.
///
/// The models are written from what the clients do, faults included. Bytes that no client of the same kind was seen to
/// treat in a special way are treated in the simplest.
public enum ClientComparison: String, Sendable, CaseIterable {
    /// iVersion 1.0 to 1.6.3.
    case iVersion163 = "iversion-1.6.3"
    /// `compare:options:` with `NSNumericSearch`: iVersion from 1.6.4 on, Siren up to 6 and Harpy.
    case numericSearch = "numeric-search"
    /// Siren 7.
    case siren7 = "siren-7"
    /// Updates as it is by default: the first three parts count.
    case updates = "updates"
    /// Updates with the comparator `build`: the first four parts count.
    case updatesBuild = "updates-build"
    /// Prince of Versions on iOS and macOS; on Android it compares builds, which are integers.
    case princeOfVersions = "prince-of-versions"
    /// The `versionToInt` of hand-written look-ups.
    case versionToInt = "version-to-int"
    /// The script of Twist, the 2013 original. It ran on the server.
    case twist = "twist"
    /// Sparkle 2, which compares builds (`CFBundleVersion`).
    case sparkle = "sparkle"
    /// upgrader, with Dart's `version`.
    case upgrader = "upgrader"
    /// react-native-version-check, with npm's `semver`.
    case reactNativeVersionCheck = "react-native-version-check"
    /// The server of CodePush; its clients compare nothing.
    case codePush = "codepush"
    /// AppUpdater for Android, where no version code is offered.
    case appUpdater = "app-updater"
    /// Android-Siren by name, where no version code is offered.
    case androidSiren = "android-siren"

    /// What a client that has a version makes of another that is offered.
    ///
    /// - Parameters:
    ///   - installed: The version as the app reports it.
    ///   - offered: The version as the document spells it.
    public func outcome(installed: String, offered: String) -> ComparisonOutcome {
        switch self {
        case .iVersion163: NumberedParts.iVersion163(installed, offered)
        case .numericSearch: SegmentedText.numericSearch(installed, offered)
        case .siren7: NumberedParts.siren7(installed, offered)
        case .updates: NumberedParts.updates(installed, offered, parts: 3)
        case .updatesBuild: NumberedParts.updates(installed, offered, parts: 4)
        case .princeOfVersions: NumberedParts.princeOfVersions(installed, offered)
        case .versionToInt: NumberedParts.versionToInt(installed, offered)
        case .twist: NumberedParts.twist(installed, offered)
        case .sparkle: SegmentedText.sparkle(installed, offered)
        case .upgrader: SemanticText.upgrader(installed, offered)
        case .reactNativeVersionCheck: SemanticText.reactNativeVersionCheck(installed, offered)
        case .codePush: SemanticText.codePush(installed, offered)
        case .appUpdater: NumberedParts.appUpdater(installed, offered)
        case .androidSiren: NumberedParts.androidSiren(installed, offered)
        }
    }

    /// The first part by which a client takes a version for an update, from 0; `nil` where it does not, or where no part
    /// decides in this client.
    ///
    /// By the part, Siren 7 and Android-Siren choose how to ask.
    public func updatedPart(installed: String, offered: String) -> Int? {
        guard outcome(installed: installed, offered: offered) == .newer else { return nil }
        switch self {
        case .siren7, .androidSiren: return NumberedParts.firstDifference(installed, offered)
        default: return nil
        }
    }

    /// The kind of update that Siren 7 takes a version for; `nil` where it takes it for none.
    public static func sirenUpdate(installed: String, offered: String) -> SirenUpdate? {
        siren7.updatedPart(installed: installed, offered: offered).map { SirenUpdate(rawValue: $0) ?? .revision }
    }
}

/// The kinds of updates for which Siren 7 has rules of its own, by the first part that differs.
public enum SirenUpdate: Int, Sendable {
    case major
    case minor
    case patch
    /// The fourth part or a later one.
    case revision
}

/// What a client makes of a version that is offered, compared with the one that is installed.
public enum ComparisonOutcome: Sendable, Hashable {
    /// The offered version is newer: the client asks.
    case newer
    /// The offered version is older.
    case older
    /// The two are the same version.
    case equal
    /// The client comes to no result.
    case undecidable(Reason)

    /// Why a client comes to no result.
    public enum Reason: String, Sendable {
        /// It cannot read a version. It throws and takes that for "no update", or compares with NaN.
        case error
        /// The app ends.
        case crash
        /// A debug build ends; in a release build the version counts as 0.
        case assertion
        /// It does not compare such versions.
        case refused
    }

    /// The outcome of two values that have an order.
    init<Value: Comparable>(_ installed: Value, _ offered: Value) {
        self = installed < offered ? .newer : offered < installed ? .older : .equal
    }
}
