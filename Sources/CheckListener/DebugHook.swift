#if DEBUG
    import Glibc
    import UpdatePolicy

    /// What tests ask of the built program by its environment; a release build has none of it.
    package enum DebugHook {
        /// How many seconds a policy is on trial, once it has answered.
        package static let trialSeconds = value("VERSIONGATE_DEBUG_TRIAL_SECONDS").flatMap(Double.init)
        /// The key of a rule whose message ends the process.
        private static let fatalRule = value("VERSIONGATE_DEBUG_FATAL_RULE")

        /// Ends the process where an answer holds the message of the fatal rule.
        static func answering(with answer: borrowing Answer, by policy: CompiledPolicy?) {
            guard let fatalRule, let policy else { return }
            for sent in answer.sent where policy.key(of: sent.id) == fatalRule { abort() }
        }

        private static func value(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }
        }
    }
#endif
