import Foundation
import SystemPackage
import UpdatePolicy

/// The file that is the brake of servers: while it is there, they send every lockout as a plain message.
///
/// Its text says why; it may be empty. Whoever may write to its folder needs neither the database nor a running server.
package struct BrakeFile: Sendable, Equatable {
    package let path: String
    /// Whether somebody has named it, so that its folder has to be there. That of the state is made when there is a policy.
    private let isNamed: Bool

    package enum State: Sendable, Equatable {
        case absent
        case present(why: String)
        /// Nobody knows, because the system does not say whether the file is there.
        case unknown(fault: String)
    }

    package enum Failure: Error, Equatable {
        case noFolder
        case forbidden
        case readOnly
        /// Something else, in the words of the system.
        case other(String)

        init(_ error: Errno) {
            switch error {
            case .noSuchFileOrDirectory, .notDirectory: self = .noFolder
            case .permissionDenied, .notPermitted: self = .forbidden
            case .readOnlyFileSystem: self = .readOnly
            default: self = .other(error.description)
            }
        }
    }

    package var folder: String {
        let folder = FilePath(path).removingLastComponent().string
        return folder.isEmpty ? "." : folder
    }

    package var engage: String { "versiongate brake on --brake-file \(path.shellWord)" }

    package var release: String { "versiongate brake off --brake-file \(path.shellWord)" }

    private static let longestReason = 500

    package init(path: String) {
        self.path = path
        isNamed = true
    }

    /// The brake of servers that keep their state in a folder.
    package init(stateDirectory: String) {
        path = stateDirectory + "/brake"
        isNamed = false
    }

    /// Looks whether the brake is on. A file that cannot be read is there all the same, and so is a link that leads
    /// nowhere: what takes lockouts away is not to end because something else did.
    package var state: State {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let error = Errno(rawValue: errno)
            guard error == .noSuchFileOrDirectory || error == .notDirectory else { return .unknown(fault: "\(error)") }
            guard isNamed, access(folder + "/", F_OK) != 0 else { return .absent }
            return .unknown(fault: "there is no folder \(folder)")
        }
        // A pipe would be waited for.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .present(why: "") }
        let reason = (try? WholeFile.read(path, upTo: Self.longestReason).bytes) ?? []
        return .present(why: String(decoding: reason, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Puts the brake on, or says another reason where it is on.
    ///
    /// - Returns: Whether it says why: a full disk has room for an empty file alone.
    package func putOn(why: String) throws(Failure) -> Bool {
        do {
            do {
                try put(why.isEmpty ? "" : why + "\n")
                return true
            } catch Errno.noSpace where !why.isEmpty {
                try put("")
                return false
            }
        } catch {
            throw (error as? Errno).map { Failure($0) } ?? Failure.other("\(error)")
        }
    }

    private func put(_ text: String) throws {
        try WholeFile.replace(path, with: text.utf8, permissions: [.ownerReadWrite, .groupRead, .otherRead])
    }

    /// Takes the brake off.
    ///
    /// - Returns: Whether it was on.
    package func takeOff() throws(Failure) -> Bool {
        if unlink(path) == 0 { return true }
        let error = Errno(rawValue: errno)
        guard error == .noSuchFileOrDirectory, access(folder, F_OK) == 0 else { throw Failure(error) }
        return false
    }

    /// Appends a line to the record beside the brake. Where that cannot be, the brake counts all the same.
    package func record(_ line: String) {
        let file = try? FileDescriptor.open(
            FilePath(path + ".log"), .writeOnly, options: [.create, .append, .noFollow, .nonBlocking, .closeOnExec],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        _ = try? file?.closeAfter { try file?.writeAll((line + "\n").utf8) }
    }
}
