// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What of a client is counted: its app and five members, none of which tells two installations apart.
///
/// While checks are counted a kind is a run of bytes, the six texts in the order below with a zero byte between them,
/// an empty text for one that is missing. No text holds a zero byte, so equal bytes are equal kinds.
public struct ClientKind: Sendable, Hashable {
    /// The app's bundle as the policy spells it.
    public let bundle: String

    /// The platform, as rules name it; `nil` where it was not sent or cannot be the name of one.
    ///
    /// A name is 1 to 32 lower-case ASCII letters, digits, `_` and `-`.
    public let platform: String?

    /// The version as the client wrote it, without blanks at its ends; `nil` where it was not sent.
    ///
    /// One that cannot be read is kept as well, so that people can see what their apps send; it is `unkeptVersion` where
    /// it is longer than 64 bytes or has other characters than printable ASCII.
    public let version: String?

    /// The build as the client wrote it, without blanks at its ends; `nil` where it was not sent, cannot be read, or has
    /// more than 32 bytes.
    public let build: String?

    /// The country, two upper-case letters; `nil` where none could be read.
    public let region: String?

    /// The version of the operating system, as the build.
    public let os: String?

    /// What stands for a version that cannot be read and is not kept.
    public static let unkeptVersion = "?"

    /// The most bytes of a version that is kept although it cannot be read.
    static let maximumUnreadableVersionLength = 64

    /// The most bytes of a platform's name.
    static let maximumPlatformLength = 32

    /// The most bytes of a build, and of the version of an operating system.
    static let maximumNumberLength = 32

    /// Room for everything behind the bundle: five zero bytes, a platform, a version, a region, a build and a system.
    static let maximumLengthOfMembers =
        5 + maximumPlatformLength + VersionScanner.maximumLength + 2 + 2 * maximumNumberLength

    /// The kind as bytes, as `Client.writeKind(ofApp:into:)` writes it.
    public var bytes: [UInt8] {
        Array(
            [bundle, platform, version, build, region, os].map { $0 ?? "" }.joined(separator: "\0").utf8
        )
    }

    /// A kind of these members.
    public init(
        bundle: String,
        platform: String? = nil,
        version: String? = nil,
        build: String? = nil,
        region: String? = nil,
        os: String? = nil
    ) {
        self.bundle = bundle
        self.platform = platform
        self.version = version
        self.build = build
        self.region = region
        self.os = os
    }

    /// Reads what `Client.writeKind(ofApp:into:)` wrote.
    public init(bytes: some Collection<UInt8>) {
        let texts = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        precondition(texts.count == 6, "a kind is six texts")
        let members = texts.map { $0.isEmpty ? nil : $0 }
        bundle = texts[0]
        platform = members[1]
        version = members[2]
        build = members[3]
        region = members[4]
        os = members[5]
    }
}
