// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Crypto
import Foundation
import UpdatePolicy

/// The last good policy on this machine's disk, which is what a start without a database serves.
///
/// A text file of lines: the name and the version of the format, the revision as JSON, an object of JSON for each app
/// with its releases and rules and one for the rules for every app, and the SHA-256 of all bytes before it. Notes are
/// not in it. It is written as a whole beside its place and renamed, so there is always a complete one.
struct PolicyFile: Sendable {
    /// Where it is.
    let path: String

    /// The first line: the format's name and version.
    static let firstLine = "versiongate policy 1"
    /// What the last line begins with.
    static let checksumName = "sha256 "

    /// The second line.
    struct Header: Codable {
        let revision: Int64
        let token: String
    }

    /// Each line after the second and before the last.
    struct Section: Codable {
        let app: App?
        let releases: [Release]
        let rules: [Rule]
    }

    /// The file in a state folder.
    init(stateDirectory: String) {
        path = stateDirectory + "/last-good-policy"
    }

    /// Reads the file.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: ``PolicyFileError`` that says what is wrong with it.
    func read() throws -> Policy? {
        let contents: Data
        do {
            contents = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch {
            throw fault("it cannot be read: \(error.localizedDescription)")
        }
        return try policy(in: contents)
    }

    /// Reads what the file holds.
    ///
    /// - Throws: ``PolicyFileError``.
    func policy(in contents: Data) throws -> Policy {
        guard contents.starts(with: Data((Self.firstLine + "\n").utf8)) else {
            throw fault("it does not begin with \"\(Self.firstLine)\", so it is another program's or another version's")
        }
        let lines = contents.split(separator: UInt8(ascii: "\n"))
        guard lines.count >= 3, contents.last == UInt8(ascii: "\n"), let last = lines.last else {
            throw fault("its end is missing")
        }
        let checksum = SHA256.hash(data: contents[..<last.startIndex])
        guard String(decoding: last, as: UTF8.self) == Self.checksumName + checksum.hexadecimal else {
            throw fault("its last line is not the checksum of the lines before it")
        }
        let decoder = JSONDecoder()
        do {
            let header = try decoder.decode(Header.self, from: lines[1])
            var policy = Policy(revision: header.revision, token: header.token)
            for line in lines.dropFirst(2).dropLast() {
                let section = try decoder.decode(Section.self, from: line)
                if let app = section.app { policy.apps.append(app) }
                policy.releases += section.releases
                policy.rules += section.rules
            }
            return policy
        } catch {
            throw fault("it holds what this version does not know: \(error)")
        }
    }

    /// Renames the file, so that the next good policy gets its place and somebody can look at it.
    ///
    /// - Returns: Where it is now; nil if it could not be renamed.
    func setAside() -> String? {
        let aside = path + ".damaged"
        return rename(path, aside) == 0 ? aside : nil
    }

    func fault(_ reason: String) -> PolicyFileError { PolicyFileError(path, reason) }
}

extension SHA256.Digest {
    /// The digest in hexadecimal digits.
    var hexadecimal: String {
        map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
