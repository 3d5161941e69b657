import Foundation
import PolicyStore
import SystemPackage
import UpdatePolicy

/// The last good policy on this machine's disk, which is what a start without a database serves.
///
/// A text file of lines that end with a line feed:
///
/// 1. `versiongate policy` and the format version;
/// 2. a JSON object with the `revision` and its `token`;
/// 3. for each app a JSON object with the `app`, its `releases` and its `rules`, and one with the `rules` for every app;
/// 4. `sha256` and the SHA-256 of all bytes before this line, in hexadecimal digits.
///
/// Notes are not in it. The objects are those of ``StoredRow``: members keep the names of format 1 for ever, one that is
/// missing has its default, and an unknown one is refused: it can be a condition, and without it a rule reaches more
/// clients. So a new member needs no new format, every old file can be read, and an older server
/// reads a newer file unless a row in it has something new. The format version rises when the order of the lines or the
/// meaning of a member changes. In format 1 members with their defaults were written, too.
///
/// A new file is written beside the old one and renamed over it, so there is always a complete file.
struct LastGoodPolicyFile: Sendable {
    let path: String

    /// The beginning of the first line; the format version follows.
    static let formatName = "versiongate policy "
    /// The format that is written; all from 1 on are read.
    static let format = 2
    static let firstLine = "\(formatName)\(format)"
    /// The beginning of the last line.
    static let checksumName = "sha256 "

    struct Header: StoredRow {
        static let blank = Header(revision: 0, token: "")
        static let members: [StoredMember<Header>] = [
            StoredMember("revision", \.revision, isRequired: true), StoredMember("token", \.token, isRequired: true),
        ]

        var revision: Int64
        var token: String
    }

    /// Each line after the second and before the last.
    struct Section: StoredRow {
        static let blank = Section()
        static let members: [StoredMember<Section>] = [
            StoredMember("app", \.app), StoredMember("releases", \.releases), StoredMember("rules", \.rules),
        ]

        var app: App?
        var releases: [Release] = []
        var rules: [Rule] = []
    }

    init(stateDirectory: String) {
        self.init(path: stateDirectory + "/last-good-policy")
    }

    private init(path: String) {
        self.path = path
    }

    /// Reads the file.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: ``LastGoodPolicyFileError`` that says what is wrong with it.
    func read() throws(LastGoodPolicyFileError) -> Policy? {
        if Self.othersMayWrite(path) {
            throw fault(
                "every user of this machine may write it, so it may be anybody's; once the database answers, the policy is "
                    + "kept in a file that others cannot write"
            )
        }
        let contents: Data
        do {
            contents = Data(try WholeFile.read(path).bytes)
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            throw fault("it cannot be read: \(error)")
        }
        return try policy(in: contents)
    }

    /// Refuses a state folder in which every user of the machine could put a policy.
    ///
    /// - Throws: ``ConfigurationError`` that says what to do.
    func requireProtectedFolder() throws(ConfigurationError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard Self.othersMayWrite(folder) else { return }
        throw ConfigurationError(
            "--state-dir (VERSIONGATE_STATE_DIR): every user of this machine may write to \(folder), and so decide what is "
                + "answered without the database; run chmod o-w \(folder), or name a folder in it, which the server makes"
        )
    }

    private static func othersMayWrite(_ path: String) -> Bool {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.posixPermissions] as? Int).map { $0 & 0o002 != 0 } ?? false
    }

    /// Reads what the file holds.
    ///
    /// - Throws: ``LastGoodPolicyFileError``.
    func policy(in contents: Data) throws(LastGoodPolicyFileError) -> Policy {
        guard let number = Self.format(of: contents) else {
            throw fault("it does not begin with \"\(Self.formatName)\" and a number, so it is another program's")
        }
        guard number <= Self.format else {
            throw ofLaterVersion("it is of format \(number), and this version knows those up to \(Self.format)")
        }
        let lines = contents.split(separator: UInt8(ascii: "\n"))
        guard lines.count >= 3, contents.last == UInt8(ascii: "\n"), let last = lines.last else {
            throw fault("its end is missing")
        }
        let checksum = SHA256.hash(data: contents[..<last.startIndex])
        guard String(decoding: last, as: UTF8.self) == Self.checksumName + checksum.hexadecimal else {
            throw fault("its last line is not the checksum of the lines before it")
        }
        do {
            let decoder = JSONDecoder()
            let header = try decoder.decode(Header.self, from: lines[1])
            var policy = Policy(revision: header.revision, token: header.token)
            for line in lines.dropFirst(2).dropLast() {
                let section = try decoder.decode(Section.self, from: line)
                if let app = section.app { policy.apps.append(app) }
                policy.releases += section.releases
                policy.rules += section.rules
            }
            return policy
        } catch let unknown as UnknownMember {
            throw ofLaterVersion("it has the member \"\(unknown.name)\", which this version does not know")
        } catch {
            throw fault("its contents cannot be used: \(error)")
        }
    }

    /// The format version; nil where the first line does not have one.
    private static func format(of contents: Data) -> Int? {
        guard contents.starts(with: formatName.utf8) else { return nil }
        let digits = contents.dropFirst(formatName.utf8.count).prefix { $0 != UInt8(ascii: "\n") }
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    // MARK: What the file is, without reading it all

    enum Occupant: Equatable {
        case nothing
        /// A file that says it holds the policy of this revision.
        case policy(PolicyVersion)
        /// A file that does not say what it holds.
        case unknown
    }

    /// What the first two lines say; the rest and the checksum are not read.
    var occupant: Occupant {
        do {
            return Self.occupant(Data(try WholeFile.read(path, upTo: 512).bytes))
        } catch {
            return error as? Errno == .noSuchFileOrDirectory ? .nothing : .unknown
        }
    }

    private static func occupant(_ contents: Data) -> Occupant {
        let lines = contents.prefix(512).split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard format(of: contents) != nil, lines.count == 3,
            let header = try? JSONDecoder().decode(Header.self, from: lines[1])
        else { return .unknown }
        return .policy(PolicyVersion(revision: header.revision, token: header.token))
    }

    // MARK: A policy to fall back on

    /// The last two policies that have passed their trial, the newer one first: it can be the one in the file, or what
    /// servers died of later.
    var passed: [LastGoodPolicyFile] {
        [LastGoodPolicyFile(path: path + ".passed"), LastGoodPolicyFile(path: path + ".passed.1")]
    }

    /// Keeps the policy in the file as the one that has passed last, unless the file has another one by now.
    ///
    /// - Returns: Whether it is kept as such.
    /// - Throws: ``LastGoodPolicyFileError``; the one that has passed before is kept.
    @discardableResult
    func keepAsPassed(_ version: PolicyVersion) throws(LastGoodPolicyFileError) -> Bool {
        let (last, before) = (passed[0], passed[1])
        guard last.occupant != .policy(version) else { return true }
        guard occupant == .policy(version) else { return false }
        do {
            let contents = Data(try WholeFile.read(path).bytes)
            // The file may have been replaced a moment ago.
            guard Self.occupant(contents) == .policy(version) else { return false }
            let next = WholeFile.unfinished(last.path)
            try WholeFile.replace(next, with: contents)
            rename(last.path, before.path)
            guard rename(next, last.path) == 0 else { throw Errno(rawValue: errno) }
            return true
        } catch {
            throw fault("it cannot be kept as \(last.path): \(error)")
        }
    }

    /// Renames the file to `.damaged`, so that the next good policy can be written and the damaged file examined.
    ///
    /// - Returns: Where it is now; nil if it could not be renamed.
    func setAside() -> String? { rename(path, path + ".damaged") == 0 ? path + ".damaged" : nil }

    fileprivate func fault(_ reason: String) -> LastGoodPolicyFileError { LastGoodPolicyFileError(path, reason) }

    private func ofLaterVersion(_ reason: String) -> LastGoodPolicyFileError {
        var error = fault("\(reason); a later version of versiongate wrote it")
        error.isOfLaterVersion = true
        return error
    }
}

/// A reason why the file of the last good policy cannot be used or written.
struct LastGoodPolicyFileError: Error, Equatable, CustomStringConvertible {
    let description: String

    /// Whether nothing is wrong with the file but that a later version wrote it, which can read it.
    var isOfLaterVersion = false

    init(_ path: String, _ reason: String) {
        description = "\(path): \(reason)"
    }
}

/// Writes good policies to their file, one after the other; only the owner can read it.
///
/// Sections that a policy shares with the one written before are not encoded again: an edit of a large policy costs what
/// it changed.
struct LastGoodPolicyFileWriter {
    let file: LastGoodPolicyFile
    /// The policy that was written last; while it is kept, no section of another policy gets the identity of one of its.
    private(set) var policy: CompiledPolicy?
    /// The lines of its sections.
    private var lines: [ObjectIdentifier: Data] = [:]

    init(_ file: LastGoodPolicyFile) {
        self.file = file
    }

    /// Replaces the policy in the file. A file that is no policy is set aside.
    ///
    /// - Throws: ``LastGoodPolicyFileError``; the file is then as it was.
    mutating func write(_ policy: CompiledPolicy) throws(LastGoodPolicyFileError) {
        do {
            // The private PostgreSQL of root runs as another user, who must pass through.
            let mode = geteuid() == 0 ? 0o711 : 0o700
            try FileManager.default.createDirectory(
                atPath: FilePath(file.path).removingLastComponent().string, withIntermediateDirectories: true,
                attributes: [.posixPermissions: mode]
            )
            if self.policy == nil { WholeFile.removeLeftovers(of: file.path) }
            let (bytes, lines) = try contents(of: policy)
            if file.occupant == .unknown { _ = file.setAside() }
            try WholeFile.replace(file.path, with: bytes, isDurable: true)
            (self.policy, self.lines) = (policy, lines)
        } catch {
            let reason = (error as? CocoaError)?.localizedDescription ?? "\(error)"
            throw file.fault("the policy cannot be written: \(reason)")
        }
    }

    private func contents(of policy: CompiledPolicy) throws -> (Data, [ObjectIdentifier: Data]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = LastGoodPolicyFile.Header(revision: policy.revision, token: policy.token)
        var contents = Data((LastGoodPolicyFile.firstLine + "\n").utf8) + (try encoder.encode(header))
        var lines: [ObjectIdentifier: Data] = [:]
        for section in policy.sections {
            let rows = LastGoodPolicyFile.Section(app: section.app, releases: section.releases, rules: section.rules)
            let line = try self.lines[section.id] ?? encoder.encode(rows)
            lines[section.id] = line
            contents += "\n".utf8
            contents += line
        }
        contents += "\n".utf8
        let checksum = SHA256.hash(data: contents).hexadecimal
        contents += "\(LastGoodPolicyFile.checksumName)\(checksum)\n".utf8
        return (contents, lines)
    }
}
