import UpdateFeeds

/// A request target, taken apart.
struct RequestTarget {
    /// All of it, as it was sent.
    let text: String
    /// Where it leads, as metrics call it; ``RequestKind/Route/other`` where nothing is.
    let route: RequestKind.Route
    /// Which document it asks for, where it leads to one.
    let feed: FeedSubject?
    /// What is behind the question mark.
    let query: Substring

    /// Takes a target apart that is in origin form or absolute form
    /// ([RFC 9112, 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)).
    ///
    /// - Parameter takesReleases: Whether there is something at the path of releases.
    init(_ target: String, takesReleases: Bool = true) {
        text = target
        var rest = target[...]
        if !target.utf8.starts(with: "/".utf8), let authority = Self.startOfAuthority(target) {
            let afterScheme = target[authority...]
            rest =
                afterScheme.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                .map { afterScheme[$0...] } ?? ""
        }
        let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        query = Substring(rest.utf8[mark...].dropFirst())
        let path = String(rest[..<mark])
        switch RequestKind.Route(rawValue: path) {
        case .releases? where !takesReleases: (route, feed) = (.other, nil)
        // The paths of feeds and look-ups have an app or a country in them.
        case let known? where known != .feed && known != .lookup: (route, feed) = (known, nil)
        default:
            let subject = FeedSubject(path: path)
            (route, feed) = (subject?.route ?? .other, subject)
        }
    }

    /// Where the authority of a target in absolute form begins; nil in a target of another form.
    private static func startOfAuthority(_ target: String) -> String.Index? {
        guard let colon = target.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let afterColon = target.utf8[target.utf8.index(after: colon)...]
        return afterColon.starts(with: "//".utf8) ? afterColon.index(afterColon.startIndex, offsetBy: 2) : nil
    }
}

/// Which document is asked for, as a path says it.
enum FeedSubject {
    /// A format that has its path below the app's.
    case format(FeedFormat, bundle: String?)
    /// A document of the app's own.
    case template(bundle: String, name: String)
    /// A look-up in the App Store of a country.
    case lookup(country: String?)

    /// `/v1/feeds/BUNDLE/NAME`, `/CC/lookup`, `//lookup` or `/CC//lookup`.
    fileprivate init?(path: String) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false)
            .map { Substring($0) }
        let names = parts.filter { !$0.isEmpty }
        // react-native-version-check writes a slash too many.
        if parts.last == "lookup", names.count <= 2, parts.count <= names.count + 2 {
            let country = names.count == 2 ? names[0] : nil
            guard country.map(Self.isCountry) ?? true else { return nil }
            self = .lookup(country: country.map(String.init))
            return
        }
        guard parts.count == 5, parts[1] == "v1", parts[2] == "feeds", !parts[4].isEmpty else { return nil }
        // What cannot be read is the bundle of no app.
        var encoded = parts[3]
        let bundle = encoded.withUTF8 { PercentEncoding.text(UnsafeRawBufferPointer($0)) }
        let name = String(parts[4])
        switch FeedFormat(rawValue: name) {
        case nil, .lookup?:
            guard let bundle else { return nil }
            self = .template(bundle: bundle, name: name)
        case let format?: self = .format(format, bundle: bundle)
        }
    }

    fileprivate var route: RequestKind.Route {
        if case .lookup = self { .lookup } else { .feed }
    }

    private static func isCountry(_ name: Substring) -> Bool {
        name.utf8.count == 2
            && name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
    }
}
