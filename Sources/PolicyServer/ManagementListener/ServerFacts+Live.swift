import CheckListener
import PolicyPages
import PolicyStore
import UpdatePolicy

extension ServerFacts {
    /// What a server knows at this moment.
    init(_ state: ServerState) {
        self.init()
        let status = state.policy.status
        policy = state.policy.current
        isFromDisk = status.source == .file
        loadedAt = status.loadedAt
        databaseIsReachable = status.databaseIsReachable
        lastPolledAt = status.lastPolledAt
        databaseAddress = status.databaseAddress
        isBraked = status.brake != nil
        brakeCommand = state.brake?.engage ?? brakeCommand
        let answer = policy == nil ? "" : ", so the one before answers"
        let faults: [(text: String, remedy: String?)?] = [
            status.brake.map {
                ("The brake is on, so lockouts are sent as plain messages: \($0)", $0.file.release)
            },
            status.brakeFault.map { ("Whether the brake is on is not known: \($0)", nil) },
            status.standsInUntil.map { end in
                (
                    "Lockouts are sent as plain messages, because servers ended by a newer policy."
                        + " That ends by itself at \(NumberText.minute(end)), or with the next edit", nil
                )
            },
            status.failure.map { failure in
                let at = NumberText.minute(failure.at)
                let what =
                    !status.databaseIsReachable
                    ? "Edits do not reach this server, because the database could not be asked at \(at)"
                    : status.heldBack != nil
                        ? "The newest policy is held back" : "The newest policy could not be loaded at \(at)\(answer)"
                return ("\(what): \(failure.reason)", failure.rejected.map { PrintedCommand.text("undo \($0)") })
            },
            status.fileFault.map {
                (
                    "The policy cannot be kept on this machine's disk, so a start without the database would have"
                        + " an older one or none: \($0)", nil
                )
            },
            state.tls?.fault.map { ("Apps may refuse to connect: \($0)", nil) },
            state.lockoutKey?.fault.map { ("Apps may show lockouts as plain messages: \($0)", nil) },
        ]
        self.faults = faults.compactMap(\.self)
        guard let names = state.counting?.recorders.unknownNames else { return }
        unknownBundles = names.unlistedBundles.sorted.map { ($0.name, $0.count, $0.error) }
        unknownLanguages = names.textlessLanguages.sorted.map { ($0.name, $0.count, $0.error) }
    }
}
