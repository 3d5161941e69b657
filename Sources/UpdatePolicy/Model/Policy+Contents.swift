// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension Policy {
    /// Refuses rows that the database would not have admitted although they can be compiled: a link that apps must not
    /// open, a text that is empty, too long or has control characters, a key or bundle of another form.
    ///
    /// For a policy that does not come from the database. It checks only limits that no version tightens, so that a policy
    /// which an earlier version wrote is not refused.
    ///
    /// - Throws: `PolicyError` that names the row.
    package func requireAllowedContents() throws(PolicyError) {
        for app in apps {
            try app.requireAllowedContents()
        }
        for release in releases {
            try release.requireAllowedContents()
        }
        for rule in rules {
            try rule.requireAllowedContents()
        }
    }

    fileprivate static func requireBundle(_ bundle: String, _ row: String) throws(PolicyError) {
        let isControlOrBlank = { (scalar: Unicode.Scalar) in scalar.value <= 0x20 || isControl(scalar) }
        guard (1...255).contains(bundle.utf8.count), !bundle.unicodeScalars.contains(where: isControlOrBlank) else {
            throw PolicyError(row: row, reason: "has a bundle that is empty, too long, or has blanks in it")
        }
    }

    fileprivate static func requireText(
        _ text: String,
        _ column: String,
        upTo longest: Int,
        _ row: String
    ) throws(PolicyError) {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: { $0 != " " && $0 != "\t" && $0 != "\n" }), scalars.count <= longest else {
            throw PolicyError(row: row, reason: "has a \(column) that is empty or of more than \(longest) characters")
        }
        guard !scalars.contains(where: { isControl($0) && $0 != "\n" }) else {
            throw PolicyError(row: row, reason: "has a \(column) with a control character in it")
        }
    }

    /// Whether a key is 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-` and begins with a letter or digit.
    fileprivate static func isKey(_ key: String) -> Bool {
        let isLetterOrDigit = { (byte: UInt8) in byte &- UInt8(ascii: "a") < 26 || ASCII.isDigit(byte) }
        guard let first = key.utf8.first, isLetterOrDigit(first), key.utf8.count <= 64 else { return false }
        return key.utf8.allSatisfy { byte in
            isLetterOrDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == ASCII.hyphen
        }
    }

    fileprivate static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }
}

extension App {
    fileprivate func requireAllowedContents() throws(PolicyError) {
        let row = "app \(bundle)"
        try Policy.requireBundle(bundle, row)
        if let name { try Policy.requireText(name, "name", upTo: 200, row) }
        if let seller { try Policy.requireText(seller, "seller", upTo: 200, row) }
        for link in storeLinks {
            guard MessageLink.isAllowed(link.link) else {
                throw PolicyError(row: row, reason: "has a link for \(link.platform) that apps must not open")
            }
        }
        for template in feedTemplates {
            guard Policy.isKey(template.name), FeedTemplate.contentTypes.contains(template.contentType),
                template.body.utf8.count <= FeedTemplate.longestBody
            else {
                throw PolicyError(row: row, reason: "has a template \(template.name) that cannot be served")
            }
        }
    }
}

extension Release {
    fileprivate func requireAllowedContents() throws(PolicyError) {
        let row = "release \(id)"
        try Policy.requireBundle(bundle, row)
        for note in notes { try Policy.requireText(note.text, "text of its notes", upTo: 4_000, row) }
    }
}

extension Rule {
    fileprivate func requireAllowedContents() throws(PolicyError) {
        let row = "rule \(key)"
        guard Policy.isKey(key) else { throw PolicyError(row: row, reason: "has a key of another form") }
        if let bundle { try Policy.requireBundle(bundle, row) }
        try Policy.requireText(title, "title", upTo: 200, row)
        try Policy.requireText(text, "text", upTo: 4_000, row)
        for translation in texts {
            try Policy.requireText(translation.title, "title in \(translation.language)", upTo: 200, row)
            try Policy.requireText(translation.text, "text in \(translation.language)", upTo: 4_000, row)
        }
        if let link, link != MessageLink.store, !MessageLink.isAllowed(link) {
            throw PolicyError(row: row, reason: "has a link that apps must not open")
        }
        guard soakMicroseconds >= 0 else { throw PolicyError(row: row, reason: "has a soak below zero") }
        if let remind, remind.inMicroseconds <= 0 || remind.inMicroseconds % 1_000_000 != 0 {
            throw PolicyError(row: row, reason: "has a remind that is not a whole number of seconds above zero")
        }
        if let shows, !(1...1_000).contains(shows) {
            throw PolicyError(row: row, reason: "has shows that are not from 1 to 1000")
        }
        if let fuse, fuse == .zero { throw PolicyError(row: row, reason: "has a fuse of 0") }
        if let startsAt, let endsAt, endsAt <= startsAt {
            throw PolicyError(row: row, reason: "ends before it starts")
        }
        guard target == nil || bundle != nil else { throw PolicyError(row: row, reason: "has a target and no app") }
    }
}
