extension Vectors {
    /// Two versions and their order; nil where one of them cannot be read.
    package struct VersionPair: Decodable, Sendable {
        package let a: String
        package let b: String
        package let order: Int?
    }

    /// A range, a version, and whether it is held.
    package struct RangePair: Decodable, Sendable {
        package let range: String
        package let version: String
        package let matches: Bool
    }

    /// A text that is no range, the token at fault, a part of the hint, and the range that is suggested.
    package struct RangeFault: Decodable, Sendable {
        package let range: String
        package let token: String
        package let hint: String
        package let suggestion: String?
    }

    /// What a client sends as region, and the country in it.
    package struct RegionCase: Decodable, Sendable {
        package let text: String
        package let region: String?
    }

    /// A language range, a tag, and whether it is held.
    package struct LanguageCase: Decodable, Sendable {
        package let range: String
        package let tag: String
        package let matches: Bool
    }

    /// A tag, the translations that there are, and the one that is chosen.
    package struct LookupCase: Decodable, Sendable {
        package let tag: String
        package let translations: [String]
        package let chosen: String?
    }

    /// What a client sends as platform, and its name.
    package struct PlatformCase: Decodable, Sendable {
        package let text: String
        package let platform: String
    }

    /// A platform, a version of a system that clients send there, and whether a system may have it.
    package struct SystemCase: Decodable, Sendable {
        package let platform: String
        package let os: String
        package let isSystem: Bool

        private enum CodingKeys: String, CodingKey {
            case platform, os
            case isSystem = "is_system"
        }
    }

    /// The key of a rule, an install, and its bucket.
    package struct BucketCase: Decodable, Sendable {
        package let key: String
        package let install: String
        package let bucket: Int
    }
}
