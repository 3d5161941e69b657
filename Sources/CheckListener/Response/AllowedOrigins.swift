import UpdatePolicy

/// The other origins whose pages may read the answers to checks and gates.
///
/// A browser gives a page the answer of another origin only if the answer names the page's own, and asks before it sends what
/// a form could not send (a preflight). Credentials are never allowed, and nothing that a request says is sent back.
///
/// Source: [Fetch, 3.3](https://fetch.spec.whatwg.org/#http-cors-protocol).
package final class AllowedOrigins: Sendable {
    /// What a response says about origins.
    enum Match: Equatable {
        /// Nothing: another origin may read no answer of the server, or of the route.
        case nothing
        /// The page that asks may not read it.
        case refused
        /// The page may read it: its place in the list.
        case allowed(UInt16)
    }

    /// As browsers write them; `*` alone for every one.
    private let origins: [String]
    private let isForEvery: Bool

    /// Reads origins, separated by commas, or `*`.
    ///
    /// - Throws: ``LimitSyntaxError`` with the first one that no browser sends, and what to write instead.
    package init(parsing text: String) throws(LimitSyntaxError) {
        isForEvery = text == "*"
        var origins = isForEvery ? [text] : []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) where !isForEvery {
            let item = ASCII.lowercased(String(part.trimmingBlanks()))
            guard !item.contains("*") else {
                throw LimitSyntaxError("\"\(item)\" has a *; list each origin, or write * alone for every origin")
            }
            guard let origin = item == "null" ? item : Self.origin(of: item) else {
                throw LimitSyntaxError(
                    "\"\(item)\" is not an origin; write https://app.example.com, capacitor://localhost or null, "
                        + "separated by commas"
                )
            }
            guard origin == item else {
                throw LimitSyntaxError("\"\(item)\" is more than an origin; write \(origin), as browsers send it")
            }
            origins.append(origin)
        }
        self.origins = origins
    }

    /// The origin of an address in lower case, without a path and the usual port; nil where it has none.
    private static func origin(of address: String) -> String? {
        guard let separator = address.firstRange(of: "://") else { return nil }
        let scheme = address[..<separator.lowerBound]
        var host = address[separator.upperBound...].prefix { !"/?#".contains($0) }
        let usualPort = ["http": ":80", "https": ":443"][scheme]
        if let usualPort, host.hasSuffix(usualPort) { host.removeLast(usualPort.count) }
        // Some apps have no host: Electron's pages from files have the origin file://.
        guard scheme.first?.isLetter == true, scheme.allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) }),
            scheme.utf8.allSatisfy({ $0 < 0x80 }), !host.isEmpty || usualPort == nil,
            Array(host.utf8).withUnsafeBytes({ HostField.isValid($0) })
        else { return nil }
        return scheme + "://" + host
    }

    /// What the response to a request says.
    func match(_ route: RequestKind.Route, _ fields: FieldSection, in bytes: UnsafeRawBufferPointer) -> Match {
        guard [.check, .legacyCheck, .gate].contains(route) else { return .nothing }
        if isForEvery { return .allowed(0) }
        let values = fields.meaning.marks.contains(.origin) ? fields.values(of: "origin", in: bytes) : []
        guard values.count == 1, let place = origins.firstIndex(of: ASCII.lowercased(values[0])) else {
            return .refused
        }
        return .allowed(UInt16(place))
    }

    /// Writes the fields of the response to a request.
    func writeFields(of request: RequestLabel, to output: inout ByteWriter) {
        if case .allowed(let place) = request.origin {
            output.append("Access-Control-Allow-Origin: ")
            output.append(text: origins[Int(place)])
            output.append(
                """
                \r\nAccess-Control-Expose-Headers: App-Lockout, Content-Digest, Date, Policy-Brake, Policy-Bundle, \
                Policy-Revision, Signature, Signature-Input\r\n
                """
            )
            if request.isPreflight {
                output.append(
                    "Access-Control-Allow-Methods: GET, HEAD, POST\r\nAccess-Control-Allow-Headers: content-type"
                )
                for (field, _) in GateRequest.fields {
                    output.append(", ")
                    output.append(field)
                }
                output.append("\r\nAccess-Control-Max-Age: 86400\r\n")
            }
        }
        // A cache must not give one origin what is meant for another.
        if !isForEvery, request.origin != .nothing { output.append("Vary: Origin\r\n") }
    }
}
