/// A version that could be read, of an app, a build or an operating system.
///
/// Numbers of any size compare as numbers, missing ones are zero, and a pre-release comes before its release as in
/// Semantic Versioning 2.0.0. Two versions are equal when neither comes before the other, however they are written:
/// `1`, `v1.0` and `1.00.0+45` are.
package struct AppVersion: Sendable, CustomStringConvertible {
    package let text: String
    package var description: String { text }

    let key: VersionKey

    /// Reads a version; `nil` where it cannot be read.
    ///
    /// A version is at most 128 bytes of ASCII between blanks: an optional `v`, numbers joined by dots, an optional
    /// pre-release (`-` and identifiers as in Semantic Versioning, or letters straight after the numbers and an
    /// optional number, so that `1.2b3` is `1.2-b.3`), and a suffix that does not count (`+45` or ` (45)`).
    package init?(_ text: String) {
        guard let key = text.withBytes(VersionScanner.key(of:)) else { return nil }
        self.text = text
        self.key = key
    }

    init(text: String, key: VersionKey) {
        self.text = text
        self.key = key
    }
}

extension AppVersion: Comparable, Hashable {
    package static func == (left: AppVersion, right: AppVersion) -> Bool {
        left.key == right.key
    }

    package static func < (left: AppVersion, right: AppVersion) -> Bool {
        left.key < right.key
    }

    /// Feeds what the version means to the hasher, not how it is written.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
    }
}
