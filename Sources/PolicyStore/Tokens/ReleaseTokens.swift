package import Postgres
package import UpdatePolicy

/// The tokens with which pipelines record releases. The database keeps the SHA-256 of a token alone, and is given no more of it.
package enum ReleaseTokens {
    private static let prefix = "vgr_"
    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    /// How many of them 32 bytes take.
    private static let digitCount = 43

    /// Makes a token for some platforms of an app, or for all, and returns it.
    package static func add(
        _ name: String,
        bundle: String,
        platforms: [String]?,
        _ session: PostgresSession
    ) throws -> (token: String, added: ReleaseToken) {
        let token = prefix + random()
        let added = try session.query(
            """
            INSERT INTO public.release_tokens (name, hash, bundle, platforms)
            VALUES ($1, decode($2, 'hex'), $3, $4) RETURNING \(columns)
            """,
            [name, hash(token), bundle, platforms]
        ).rows(as: ReleaseToken.self)
        return (token, added[0])
    }

    package static func all(_ session: PostgresSession) throws -> [ReleaseToken] {
        try session.query("SELECT \(columns) FROM public.release_tokens ORDER BY bundle, name").rows()
    }

    package static func remove(_ name: String, _ session: PostgresSession) throws {
        try session.query("DELETE FROM public.release_tokens WHERE name = $1", [name])
    }

    /// Whether a text is written like a token.
    package static func isToken(_ text: String) -> Bool {
        text.hasPrefix(prefix) && text.utf8.count == prefix.utf8.count + digitCount
            && text.dropFirst(prefix.count).allSatisfy(digits.contains)
    }

    /// Records a release, given as JSON; nil: the token is none, or not for this app and platform.
    ///
    /// - Throws: ``ReleaseFault``, or a `PostgresError` where the database cannot do it now.
    package static func record(
        _ release: String,
        token: String,
        _ session: PostgresSession
    ) throws -> RecordedRelease? {
        do {
            guard try session.query("SELECT jsonb_typeof($1::text::jsonb) = 'object'", [release]).value() else {
                throw ReleaseFault.unreadable("The body is JSON, but no object; send one object.")
            }
        } catch let error as PostgresError where error.isInValue {
            throw ReleaseFault.unreadable("The body is not JSON: \(error.sentences)")
        }
        do {
            return try session.query(
                """
                SELECT r ->> 'token' AS token, r ->> 'outcome' AS outcome, (r ->> 'revision')::bigint AS revision, (
                    SELECT json_strip_nulls(row_to_json(row))::text
                    FROM jsonb_populate_record(NULL::public.releases, r -> 'release') AS row
                ) AS release
                FROM public.record_release(decode($1, 'hex'), $2::text::jsonb) AS r WHERE r IS NOT NULL
                """,
                [hash(token), release]
            ).rows(as: RecordedRelease.self).first
        } catch let error as PostgresError where error.constraint == "release_conflict" {
            throw ReleaseFault.conflict(error.sentences)
        } catch let error as PostgresError where error.isInValue {
            throw ReleaseFault.refused(error.sentences)
        }
    }

    private static let columns = "name, bundle, platforms, made_by, made_at"

    private static func hash(_ token: String) -> String { SHA256.hash(data: token.utf8).hexadecimal }

    /// 32 random bytes as one number.
    private static func random() -> String {
        var number = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let written = (0..<digitCount).map { _ in
            var remainder = 0
            for place in number.indices {
                let value = remainder << 8 | Int(number[place])
                number[place] = UInt8(value / digits.count)
                remainder = value % digits.count
            }
            return digits[remainder]
        }
        return String(written.reversed())
    }
}

package struct ReleaseToken: Sendable, Decodable {
    package let name: String
    package let bundle: String
    /// nil: all of the app.
    package let platforms: [String]?
    package let madeBy: String
    package let madeAt: Timestamp
}

package struct RecordedRelease: Sendable, Decodable {
    package enum Outcome: String, Sendable, Decodable, PostgresDecodable {
        case added
        case changed
        case unchanged
    }

    /// The name of the token.
    package let token: String
    package let outcome: Outcome
    /// That of the edit, or the newest where nothing was changed.
    package let revision: Int64
    /// What the release is now, as JSON.
    package let release: String
}

/// Why a release is not recorded, in sentences.
package enum ReleaseFault: Error {
    /// It is no JSON object.
    case unreadable(String)
    /// Something else is recorded.
    case conflict(String)
    case refused(String)
}

extension PostgresError {
    /// Whether the fault is in what was sent, and not in how the database is.
    fileprivate var isInValue: Bool {
        guard let sqlState else { return code == .encoding }
        // Class 54: it goes deeper than can be read.
        return sqlState.isDataException || sqlState.isIntegrityViolation || sqlState.rawValue.hasPrefix("54")
    }

    /// The message, the detail and the hint, each with a full stop.
    fileprivate var sentences: String {
        [message, detail ?? "", hint ?? ""].filter { !$0.isEmpty }
            .map { $0.last?.isPunctuation == true ? $0 : $0 + "." }.joined(separator: " ")
    }
}
