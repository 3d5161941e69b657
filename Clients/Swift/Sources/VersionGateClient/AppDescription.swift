import Foundation

/// What the server is told of the app and of the system that it runs on. What is nil or empty is not sent.
public struct AppDescription: Sendable, Equatable {
    /// The identifier of the app's bundle. Without it the server answers no check.
    public var bundle: String?
    /// The app's version, such as `1.2`.
    public var version: String?
    /// The number of the build.
    public var build: String?
    /// The platform whose releases are meant, such as `ios`.
    public var platform: String?
    /// The version of the operating system, such as `17.4.1`.
    public var os: String?
    /// The country that the person has set, such as `AT`.
    public var region: String?
    /// The first language of the person, such as `de-AT`.
    public var language: String?

    /// Creates a description.
    public init(
        bundle: String? = nil,
        version: String? = nil,
        build: String? = nil,
        platform: String? = nil,
        os: String? = nil,
        region: String? = nil,
        language: String? = nil
    ) {
        self.bundle = bundle
        self.version = version
        self.build = build
        self.platform = platform
        self.os = os
        self.region = region
        self.language = language
    }

    /// What the main bundle and the system say now.
    ///
    /// An app extension has a bundle of its own: give it the description of its app. On Linux a program has no bundle,
    /// so it gives its own ``bundle``, ``version`` and ``build``.
    public static var current: AppDescription {
        let info = Bundle.main.infoDictionary
        return AppDescription(
            bundle: Bundle.main.bundleIdentifier, version: info?["CFBundleShortVersionString"] as? String,
            build: info?["CFBundleVersion"] as? String, platform: currentPlatform, os: currentSystem,
            region: currentRegion, language: Locale.preferredLanguages.first
        )
    }

    private static var currentPlatform: String? {
        #if os(macOS) || targetEnvironment(macCatalyst)
            return "macos"
        #elseif os(iOS)
            return "ios"
        #elseif os(tvOS)
            return "tvos"
        #elseif os(watchOS)
            return "watchos"
        #elseif os(visionOS)
            return "visionos"
        #elseif os(Android)
            return "android"
        #elseif os(Windows)
            return "windows"
        #elseif os(Linux)
            return "linux"
        #else
            return nil
        #endif
    }

    private static var currentSystem: String? {
        #if os(iOS) && !targetEnvironment(macCatalyst)
            // An iPad app on a Mac is of the platform ios, for which the version of macOS means nothing.
            if ProcessInfo.processInfo.isiOSAppOnMac { return nil }
        #endif
        return text(of: ProcessInfo.processInfo.operatingSystemVersion)
    }

    private static var currentRegion: String? {
        if #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *) { return Locale.current.region?.identifier }
        return Locale.current.regionCode
    }

    /// A version as people write it: `17.4.1`, and `17.4` rather than `17.4.0`.
    static func text(of version: OperatingSystemVersion) -> String {
        let start = "\(version.majorVersion).\(version.minorVersion)"
        return version.patchVersion == 0 ? start : "\(start).\(version.patchVersion)"
    }

    /// The headers of a question to a gate. A header cannot carry all that a body can.
    func fields(install: String?) -> [String: String] {
        let values = [
            "App-Bundle": bundle, "App-Version": version, "App-Build": build, "App-Platform": platform, "App-OS": os,
            "App-Region": region, "App-Install": install,
        ]
        return values.compactMapValues { $0 }.filter { _, value in
            value.range(of: #"^[!-~]([ -~]*[!-~])?\z"#, options: .regularExpression) != nil
        }
    }

    /// The body of a question.
    func body(install: String?, attributes: [String: AttributeValue], isManual: Bool) -> Data {
        let known = [
            "bundle": bundle, "version": version, "build": build, "platform": platform, "os": os, "region": region,
            "language": language, "install": install,
        ]
        var members = attributes.filter { name, value in known[name] == nil && name != "manual" && value.isSent }
        if isManual { members["manual"] = true }
        for case (let name, let value?) in known where !value.isEmpty { members[name] = .string(value) }
        // No attribute that cannot be encoded is sent.
        return (try? JSONEncoder().encode(members)) ?? Data()
    }
}

/// The value of an attribute that rules of the policy can ask for. Literals of Swift are values.
public enum AttributeValue: Sendable, Hashable {
    /// A text, such as `testflight`.
    case string(String)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction.
    case number(Double)
    /// A boolean.
    case boolean(Bool)

    fileprivate var isSent: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .number(let number): number.isFinite
        case .integer, .boolean: true
        }
    }
}

extension AttributeValue: Encodable {
    /// Writes the value by itself.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .boolean(let boolean): try container.encode(boolean)
        }
    }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Creates a text.
    public init(stringLiteral text: String) { self = .string(text) }
    /// Creates a whole number.
    public init(integerLiteral number: Int) { self = .integer(number) }
    /// Creates a number with a fraction.
    public init(floatLiteral number: Double) { self = .number(number) }
    /// Creates a boolean.
    public init(booleanLiteral boolean: Bool) { self = .boolean(boolean) }
}
