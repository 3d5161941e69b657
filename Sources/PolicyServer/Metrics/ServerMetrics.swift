import CheckListener
import PolicyStore
import UpdatePolicy

/// Writes the metrics of the server as they are at the moment of a scrape.
struct ServerMetrics: Sendable {
    let policy: LivePolicy
    let listener: ListenerStatistics
    let counting: CheckCounting?
    var tls: ReloadedCertificate?
    var lockoutKey: ReloadedLockoutKey?
    /// Where log messages go; nil: nowhere that is known of.
    var log: OutputQueue?
    /// Knows what the rules are now; nil: nothing does.
    var ruleStatuses: RuleStatusService?
    let clock: @Sendable () -> Timestamp

    init(
        policy: LivePolicy,
        listener: ListenerStatistics,
        counting: CheckCounting?,
        tls: ReloadedCertificate? = nil,
        lockoutKey: ReloadedLockoutKey? = nil,
        log: OutputQueue? = nil,
        ruleStatuses: RuleStatusService? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.policy, self.listener, self.counting, self.tls) = (policy, listener, counting, tls)
        (self.lockoutKey, self.log, self.ruleStatuses, self.clock) = (lockoutKey, log, ruleStatuses, clock)
    }

    /// The metrics as a document.
    func document(_ format: MetricsText.Format) -> String {
        var text = MetricsText(format)
        writeRequests(to: &text)
        writeConnections(to: &text)
        writeTLS(to: &text)
        writePolicy(to: &text)
        writeCounting(to: &text)
        writeAnswers(to: &text)
        writeFuses(to: &text)
        writeLog(to: &text)
        return text.document
    }

    private func writeRequests(to text: inout MetricsText) {
        text.family(
            MetricName.requestDuration, .histogram,
            "Requests to the public listener, from their arrival to the end of the event loop tick that wrote the responses.",
            unit: "seconds"
        )
        for (kind, histogram) in listener.requests.sorted(by: { $0.key.order < $1.key.order }) {
            text.histogram(
                MetricName.requestDuration,
                histogram,
                [
                    ("http_request_method", kind.method.rawValue),
                    ("http_response_status_code", "\(kind.status)"),
                    ("http_route", kind.route.rawValue),
                ]
            )
        }
    }

    private func writeConnections(to text: inout MetricsText) {
        text.family(MetricName.connections, .gauge, "Connections to the public listener.")
        text.gauge(MetricName.connections, listener.openConnections)
        text.family(MetricName.acceptedConnections, .counter, "Connections that the public listener accepted.")
        text.counter(MetricName.acceptedConnections, listener.acceptedConnections)
        text.family(
            MetricName.refusals, .counter, "Requests that were refused and connections that were ended, by reason."
        )
        for reason in RefusalReason.allCases {
            text.counter(MetricName.refusals, listener.refusals(reason), [("reason", reason.label)])
        }
    }

    private func writeTLS(to text: inout MetricsText) {
        if let lockoutKey {
            text.family(MetricName.lockoutKeyFault, .gauge, "1 when the key that signs lockouts cannot be read.")
            text.gauge(MetricName.lockoutKeyFault, lockoutKey.fault == nil ? 0 : 1)
        }
        guard let tls else { return }
        text.family(
            MetricName.certificateExpiry, .gauge,
            "Until when the certificate of the public listener is valid, since 1970.", unit: "seconds"
        )
        text.gauge(MetricName.certificateExpiry, tls.certificateExpiry)
        text.family(
            MetricName.certificateReloadFailures, .counter, "Attempts to read the certificate again that failed."
        )
        text.counter(MetricName.certificateReloadFailures, tls.failedReloadCount)
    }

    private func writeCounting(to text: inout MetricsText) {
        guard let status = counting?.status else { return }
        let counters = [
            (MetricName.checksCounted, "Checks that were counted in memory.", status.recorded),
            (MetricName.countsOtherKind, "Checks among them that were counted without their kind.", status.otherKind),
            (
                MetricName.checksUnreadableVersion, "Checks among them whose version cannot be read.",
                status.unreadableVersion
            ),
            (MetricName.countsWritten, "Checks whose counts the database has.", status.written),
            (
                MetricName.countsDropped, "Checks whose counts were dropped because the database could not be written.",
                status.dropped
            ),
        ]
        for (name, help, value) in counters {
            text.family(name, .counter, help)
            text.counter(name, value)
        }
    }

    private func writeAnswers(to text: inout MetricsText) {
        guard let answers = counting?.answers else { return }
        text.family(
            MetricName.checksAnswered, .counter,
            "Checks by what they were answered, up to the last time that counts were taken for the database."
        )
        for (outcome, checks) in [
            ("nothing", answers.nothing), ("message", answers.message), ("lockout", answers.lockout),
        ] {
            text.counter(MetricName.checksAnswered, checks, [("outcome", outcome)])
        }
        let families = [
            (MetricName.ruleMessages, "Messages that were sent", answers.messagesByRule),
            (MetricName.ruleLockouts, "Lockouts that were sent", answers.lockoutsByRule),
        ]
        for (name, what, totals) in families {
            text.family(
                name, .counter,
                "\(what), by rule, for the \(RuleTotals.places) rules with the most of late; _other: all others."
            )
            for (rule, total) in totals.rules.sorted(by: { $0.key < $1.key }) {
                text.counter(name, total, [("rule", rule)])
            }
            // No rule has this key, as a key begins with a letter or a digit.
            text.counter(name, totals.other, [("rule", "_other")])
        }
    }

    private func writeFuses(to text: inout MetricsText) {
        text.family(
            MetricName.fuseArmed, .gauge,
            "Rules of the policy that answers whose fuse may blow: enabled lockouts of apps that are not paused."
        )
        text.gauge(MetricName.fuseArmed, policy.current?.armedFuseCount ?? 0)
        guard let status = counting?.status else { return }
        let counters = [
            (MetricName.fuseBlown, "Rules whose fuse has blown because of what this server wrote.", status.blownFuses),
            (MetricName.fuseFailures, "Attempts to judge the fuses that failed.", status.fuseFailures),
        ]
        for (name, help, value) in counters {
            text.family(name, .counter, help)
            text.counter(name, value)
        }
    }

    private func writeLog(to text: inout MetricsText) {
        guard let log else { return }
        text.family(MetricName.logDropped, .counter, "Log messages that could not be written, or not soon enough.")
        text.counter(MetricName.logDropped, log.droppedCount)
    }

    private func age(_ time: Timestamp) -> Double {
        Double(clock().microsecondsSince1970 - time.microsecondsSince1970) / 1_000_000
    }

    private func writeRuleStatuses(to text: inout MetricsText) {
        guard let totals = ruleStatuses?.totals else { return }
        text.family(
            MetricName.policyRuleStatus, .gauge,
            "Rules in the database by what they are now, as the view rule_status says it."
        )
        for status in RuleStatus.Name.allCases {
            for isLockout in [true, false] {
                text.gauge(
                    MetricName.policyRuleStatus,
                    totals.rules[RuleStatus.Totals.Kind(status, isLockout: isLockout), default: 0],
                    [("lockout", "\(isLockout)"), ("status", status.rawValue)]
                )
            }
        }
    }

    private func writePolicy(to text: inout MetricsText) {
        let current = policy.current
        let status = policy.status
        text.family(MetricName.policySource, .gauge, "1 for where the policy that answers was loaded from.")
        for (source, name) in [(PolicyStatus.Source?.some(.database), "database"), (.file, "file"), (nil, "none")] {
            text.gauge(MetricName.policySource, status.source == source ? 1 : 0, [("source", name)])
        }
        if let current {
            text.family(MetricName.policyRevision, .gauge, "Revision of the policy that answers.")
            text.gauge(MetricName.policyRevision, current.revision)
        }
        if let loadedAt = status.loadedAt {
            text.family(MetricName.policyAge, .gauge, "Time since the policy was loaded.", unit: "seconds")
            text.gauge(MetricName.policyAge, age(loadedAt))
        }
        text.family(MetricName.policyApps, .gauge, "Apps in the policy.")
        text.gauge(MetricName.policyApps, current?.appCount ?? 0)
        text.family(MetricName.policyReleases, .gauge, "Releases in the policy.")
        text.gauge(MetricName.policyReleases, current?.releaseCount ?? 0)
        text.family(MetricName.policyRules, .gauge, "Rules in the policy, enabled or not.")
        text.gauge(MetricName.policyRules, current?.ruleCount ?? 0)
        writeRuleStatuses(to: &text)
        text.family(
            MetricName.policyReloadDuration, .histogram,
            "Loads of a policy that succeeded, from reading the database to the first check it can answer.",
            unit: "seconds"
        )
        text.histogram(MetricName.policyReloadDuration, status.reloads)
        text.family(MetricName.policyReloadFailures, .counter, "Attempts to load a policy that failed.")
        text.counter(MetricName.policyReloadFailures, status.failureCount)
        text.family(
            MetricName.policyReloadFault, .gauge,
            "1 when the newest policy of the database is not known to be the one that answers, because the last attempt failed."
        )
        text.gauge(MetricName.policyReloadFault, status.failure == nil ? 0 : 1)
        text.family(
            MetricName.policyFileFault, .gauge, "1 when the last good policy cannot be kept on or read from disk."
        )
        text.gauge(MetricName.policyFileFault, status.fileFault == nil ? 0 : 1)
        text.family(
            MetricName.policyHeldBack, .gauge,
            "1 when the newest policy is not taken, because servers ended by it; lockouts are then sent as plain messages."
        )
        text.gauge(MetricName.policyHeldBack, status.isHoldingBack ? 1 : 0)
        text.family(MetricName.brake, .gauge, "1 while the brake is on, which sends lockouts as plain messages.")
        text.gauge(MetricName.brake, status.brake == nil ? 0 : 1)
        if let polledAt = status.lastPolledAt {
            text.family(
                MetricName.policyPollAge, .gauge, "Time since the database last said which revision it has.",
                unit: "seconds"
            )
            text.gauge(MetricName.policyPollAge, age(polledAt))
        }
        if let offset = status.databaseClockOffset {
            text.family(
                MetricName.databaseClockOffset, .gauge,
                "How far the clock of the database is ahead of that of this machine.", unit: "seconds"
            )
            text.gauge(MetricName.databaseClockOffset, offset)
        }
        text.family(
            MetricName.followerStalled, .gauge,
            "1 when the follower of the database is stalled; a database that is down does not stall it."
        )
        text.gauge(MetricName.followerStalled, status.followerIsStalled(at: .now) ? 1 : 0)
        text.family(MetricName.databaseUp, .gauge, "1 when the last attempt to speak with the database succeeded.")
        text.gauge(MetricName.databaseUp, status.databaseIsReachable ? 1 : 0)
    }
}

extension RequestKind {
    /// The sort key of the kinds.
    fileprivate var order: (String, String, UInt16) { (route.rawValue, method.rawValue, status) }
}
