/// A platform by its name in lower case, such as `ios`, `android` or `macos`.
///
/// `ipados`, `iphone os` and `iphoneos` are `ios`.
package struct Platform: Sendable, Hashable, CustomStringConvertible {
    /// The name, in lower case as far as ASCII letters go.
    package let name: String
    package var description: String { name }

    /// Reads a name as a client sends it or a rule holds it; ASCII case does not count.
    package init(_ text: String) {
        let lowercased = ASCII.lowercased(text)
        name = Self.otherNamesOfIOS.contains { UTF8Text($0) == UTF8Text(lowercased) } ? "ios" : lowercased
    }

    /// The names that are proposed where one is misspelled; any other is a platform as well.
    package static let wellKnown = [
        "android", "ios", "linux", "macos", "tvos", "visionos", "watchos", "web", "windows",
    ]

    static let otherNamesOfIOS = ["ipados", "iphone os", "iphoneos"]
}
