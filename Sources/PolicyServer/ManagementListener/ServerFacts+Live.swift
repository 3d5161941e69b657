import CheckListener
import PolicyPages
import PolicyStore
import UpdatePolicy

extension ServerFacts {
    /// What a server knows at this moment.
    ///
    /// - Parameters:
    ///   - tls: The certificate of the public listener; nil: it has none.
    ///   - lockoutKey: The key that signs lockouts; nil: none does.
    ///   - brake: The file of the brake.
    init(
        _ policy: LivePolicy,
        _ counting: CheckCounting?,
        _ tls: ReloadedCertificate?,
        _ lockoutKey: ReloadedLockoutKey?,
        brake: BrakeFile?
    ) {
        self.init()
        let status = policy.status
        self.policy = policy.current
        isFromDisk = status.source == .file
        loadedAt = status.loadedAt
        databaseIsReachable = status.databaseIsReachable
        lastPolledAt = status.lastPolledAt
        databaseAddress = status.databaseAddress
        isBraked = status.brake != nil
        brakeCommand = brake?.engage ?? brakeCommand
        let answer = policy.current == nil ? "" : ", so the one before answers"
        faults = [
            status.brake.map { brake in
                Fault(
                    text: "The brake is on, so lockouts are sent as plain messages: \(brake)",
                    remedy: brake.file.release
                )
            },
            status.brakeFault.map { Fault(text: "Whether the brake is on is not known: \($0)") },
            status.standsInUntil.map { end in
                Fault(
                    text: "Lockouts are sent as plain messages, because servers ended by a newer policy."
                        + " That ends by itself at \(NumberText.minute(end)), or with the next edit"
                )
            },
            status.failure.map { failure in
                let at = NumberText.minute(failure.at)
                let what =
                    !status.databaseIsReachable
                    ? "No edit arrives here, because the database could not be asked at \(at)"
                    : status.heldBack != nil
                        ? "The newest policy is held back" : "The newest policy could not be loaded at \(at)\(answer)"
                return Fault(
                    text: "\(what): \(failure.reason)",
                    remedy: failure.rejected.map { PrintedCommand.text("undo \($0)") } ?? ""
                )
            },
            status.fileFault.map {
                Fault(
                    text: "The policy cannot be kept on this machine's disk, so a start without the database would have"
                        + " an older one or none: \($0)"
                )
            },
            tls?.fault.map { Fault(text: "Apps may refuse to connect: \($0)") },
            lockoutKey?.fault.map { Fault(text: "Apps may show lockouts as plain messages: \($0)") },
        ].compactMap(\.self)
        guard let counting else { return }
        let names = counting.recorders.unknownNames
        unknowns.bundles = names.bundles.map { UnknownNames.Entry(name: $0.name, checks: $0.count, error: $0.error) }
        unknowns.languages = names.languages.map {
            UnknownNames.Entry(name: $0.name, checks: $0.count, error: $0.error)
        }
    }
}
