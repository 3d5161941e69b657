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
        static let members: [StoredMember<Header>] = [.required("revision", \.revision), .required("token", \.token)]

        var revision: Int64
        var token: String
    }

    /// Each line after the second and before the last.
    struct Section: StoredRow {
        static let blank = Section()
        static let members: [StoredMember<Section>] = [
            .row("app", \.app), .rows("releases", \.releases), .rows("rules", \.rules),
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
            let file = try StateFile.open(path).file
            contents = try FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: true).readToEnd() ?? Data()
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
            return try Self.policy(in: lines)
        } catch let unknown as UnknownMember {
            throw ofLaterVersion("it has the member \"\(unknown.name)\", which this version does not know")
        } catch {
            throw fault("its contents cannot be used: \(error)")
        }
    }

    private static func policy(in lines: [Data]) throws -> Policy {
        let decoder = JSONDecoder()
        let header = try decoder.decode(Stored<Header>.self, from: lines[1]).row
        var policy = Policy(revision: header.revision, token: header.token)
        for line in lines.dropFirst(2).dropLast() {
            let section = try decoder.decode(Stored<Section>.self, from: line).row
            if let app = section.app { policy.apps.append(app) }
            policy.releases += section.releases
            policy.rules += section.rules
        }
        return policy
    }

    /// The format version; nil where the first line does not have one.
    private static func format(of contents: Data) -> Int? {
        guard contents.starts(with: formatName.utf8) else { return nil }
        let digits = contents.dropFirst(formatName.utf8.count).prefix { $0 != UInt8(ascii: "\n") }
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    // MARK: What the file is, without reading it all

    /// What is at the path of the file.
    enum Occupant: Equatable {
        case nothing
        /// A file that says it holds the policy of this revision.
        case policy(PolicyVersion)
        /// A file that does not say what it holds.
        case unknown
    }

    /// What the first two lines say; the rest and the checksum are not read.
    var occupant: Occupant { Self.occupant(at: path) }

    private static func occupant(at path: String) -> Occupant {
        let start: Data
        do {
            let file = try StateFile.open(path).file
            start = try file.closeAfter {
                var bytes = Data(count: 512)
                let count = try bytes.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }
                return bytes.prefix(count)
            }
        } catch {
            return error as? Errno == .noSuchFileOrDirectory ? .nothing : .unknown
        }
        let lines = start.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard format(of: start) != nil, lines.count == 3,
            let header = try? JSONDecoder().decode(Stored<Header>.self, from: lines[1]).row
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
        let unfinished = "\(path).\(UUID().uuidString).new"
        defer { unlink(unfinished) }
        do {
            if link(path, unfinished) != 0 {
                // Not every file system has hard links.
                try FileManager.default.copyItem(atPath: path, toPath: unfinished)
            }
            // The file may have been replaced a moment ago.
            guard Self.occupant(at: unfinished) == .policy(version) else { return false }
            rename(last.path, before.path)
            guard rename(unfinished, last.path) == 0 else { throw Errno(rawValue: errno) }
            return true
        } catch {
            let reason = (error as? CocoaError)?.localizedDescription ?? "\(error)"
            throw fault("it cannot be kept as \(last.path): \(reason)")
        }
    }

    // MARK: Keeping what was there

    /// How many replaced and how many damaged files are kept.
    static let keptFiles = 3

    /// Renames the file to `.damaged`, so that the next good policy can be written and the damaged file examined.
    ///
    /// Up to ``keptFiles`` are kept, older ones as `.damaged.1` and so on.
    ///
    /// - Returns: Where it is now; nil if it could not be renamed.
    func setAside() -> String? {
        let names = [path + ".damaged"] + (1..<Self.keptFiles).map { "\(path).damaged.\($0)" }
        Self.makeRoom(names)
        return rename(path, names[0]) == 0 ? names[0] : nil
    }

    /// Keeps a copy of the file if its contents would be lost: a policy that was replaced, or an unreadable file.
    ///
    /// - Parameters:
    ///   - next: The policy that will replace it.
    ///   - replaced: The policy that was replaced by one that does not continue it.
    /// - Returns: Where it is kept; nil if it need not be.
    /// - Throws: ``LastGoodPolicyFileError``; the file is as it was.
    func keep(before next: PolicyVersion, replacing replaced: PolicyVersion?) throws(LastGoodPolicyFileError) -> String?
    {
        switch occupant {
        case .nothing: return nil
        case .unknown: return try keep()
        case .policy(let version):
            switch version.succession(of: next) {
            case .continues: return nil
            case .breaks: return try keep()
            // Another server may have written the file meanwhile.
            case .historyKnows: return version == replaced ? try keep() : nil
            }
        }
    }

    /// Gives the file a second name, `.1`, so that it remains when another policy replaces it.
    ///
    /// Up to ``keptFiles`` are kept, older ones as `.2` and so on. Where the file of that name holds the same policy
    /// nothing is done.
    ///
    /// - Returns: Where it is kept.
    /// - Throws: ``LastGoodPolicyFileError``; the file is as it was.
    func keep() throws(LastGoodPolicyFileError) -> String {
        let names = (1...Self.keptFiles).map { "\(path).\($0)" }
        if case .policy = occupant, Self.occupant(at: names[0]) == occupant { return names[0] }
        Self.makeRoom(names)
        if link(path, names[0]) != 0 {
            // Not every file system has hard links.
            do {
                try FileManager.default.copyItem(atPath: path, toPath: names[0])
            } catch {
                throw fault("it cannot be kept as \(names[0]): \(error.localizedDescription)")
            }
        }
        return names[0]
    }

    /// Gives each of these files the next name, so that the first name is free; the last file is gone.
    private static func makeRoom(_ names: [String]) {
        guard access(names[0], F_OK) == 0 else { return }
        for (older, newer) in zip(names.dropFirst(), names).reversed() where access(newer, F_OK) == 0 {
            rename(newer, older)
        }
    }

    func fault(_ reason: String) -> LastGoodPolicyFileError { LastGoodPolicyFileError(path, reason) }

    private func ofLaterVersion(_ reason: String) -> LastGoodPolicyFileError {
        var error = fault("\(reason); a later version of versiongate wrote it")
        error.isOfLaterVersion = true
        return error
    }
}

/// A reason why the file of the last good policy cannot be used or written.
struct LastGoodPolicyFileError: Error, Equatable, CustomStringConvertible {
    /// What went wrong and with which file.
    let description: String

    /// Whether nothing is wrong with the file but that a later version wrote it, which can read it.
    var isOfLaterVersion = false

    init(_ path: String, _ reason: String) {
        description = "\(path): \(reason)"
    }
}
