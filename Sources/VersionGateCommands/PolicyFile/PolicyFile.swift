// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

/// A policy file that was read; errors name the file and the line.
struct PolicyFile: Sendable {
    /// The name as messages show it.
    let name: String
    /// The app that the file is about; nil: it is the whole policy.
    private let bundle: String?
    private let document: PolicyDocument

    /// Reads the file, or standard input for `-`.
    ///
    /// - Parameter bundle: The app that the file is about; nil: it is the whole policy.
    init(_ path: String, bundle: String? = nil) throws {
        self.bundle = bundle
        name = path == "-" ? "<standard input>" : path
        let bytes: [UInt8]
        do {
            bytes = try Self.contents(path)
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError("\(name) cannot be read: \(CommandError.reason(ofFileError: error))")
        }
        do {
            document = try PolicyDocument(bytes)
        } catch {
            throw CommandError(
                error.faults.map { [name] in $0.description(file: name).visible(keepsNewlines: true) }.joined(
                    separator: "\n"
                )
            )
        }
    }

    /// At most one byte more than a policy file may have.
    private static func contents(_ path: String) throws -> [UInt8] {
        var isFolder: ObjCBool = false
        if path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CommandError("\(path) is a folder; name the policy file in it")
        }
        let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        var bytes: [UInt8] = []
        while bytes.count <= PolicyDocument.largestFile,
            let part = try handle.read(upToCount: PolicyDocument.largestFile + 1 - bytes.count), !part.isEmpty
        {
            bytes += part
        }
        return bytes
    }

    /// The edits that turn a policy into that of the file.
    ///
    /// - Throws: `CommandError` where the file lacks a required value, or has what is not of its app.
    func difference(from present: Policy) throws -> PolicyDifference {
        if let bundle { try report(document.faults(ofApp: bundle, in: present)) }
        let difference = PolicyDifference(
            from: bundle.map { present.part(of: $0) } ?? present,
            to: document.policy
        )
        try report(document.faults(of: difference))
        return difference
    }

    private func report(_ faults: [PolicyFileFault]) throws {
        guard faults.isEmpty else {
            throw CommandError(
                faults.map { $0.description(file: name).visible(keepsNewlines: true) }.joined(separator: "\n")
            )
        }
    }

    /// Runs `body`, and reports refusals with the lines of the file.
    func explaining<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusals as PolicyRefusals {
            throw CommandError(refusals.refusals.map(description).joined(separator: "\n"))
        } catch let conflict as PolicyConflict {
            guard case .otherRevision = conflict else { throw conflict }
            throw commandError(conflict)
        } catch let error as PostgresError
            where error.sqlState == .lockNotAvailable || error.sqlState == .deadlockDetected
        {
            throw CommandError(
                "somebody else is editing the same rows and has not committed; nothing was changed. Try again when they "
                    + "are done (SELECT * FROM pg_stat_activity shows who it is)"
            )
        }
    }

    /// The error for a policy that has changed, with what to do.
    func commandError(_ conflict: PolicyConflict) -> CommandError {
        CommandError(
            "\(conflict)\nNothing was changed. See what the file changes now: versiongate plan \(name)"
                + (bundle.map { " --bundle \($0)" } ?? "")
        )
    }

    private func description(_ refusal: PolicyRefusal) -> String {
        let position = document.position(table: refusal.table, index: refusal.index, column: refusal.column)
        let location = position.map { "\(name):\($0)" } ?? name
        return "\(location): \(CommandError(refusal.error, in: .policyFile).description)"
    }
}

extension Policy {
    /// The part of one app.
    ///
    /// - Throws: `CommandError` if there is no such app.
    func part(ofApp bundle: String) throws -> Policy {
        let part = part(of: bundle)
        guard !part.apps.isEmpty else { throw CommandError.noSuchApp(bundle, among: apps.map(\.bundle)) }
        return part
    }
}
