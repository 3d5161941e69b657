import CheckListener
import PolicyStore
import UpdatePolicy

/// Writes the metrics of the server as they are at the moment of a scrape.
struct ServerMetrics: Sendable {
    let state: ServerState
    /// Knows what the rules are now; nil: nothing does.
    var ruleStatuses: RuleStatuses?

    var document: String {
        let scrape = MetricScrape(state, rules: ruleStatuses?.totals)
        var text = MetricsText()
        for metric in Metric.all { metric.write(scrape, &text) }
        return text.document
    }
}

/// What the metrics are made of, at one moment.
private struct MetricScrape {
    let server: ServerState
    let policy: CompiledPolicy?
    let status: PolicyStatus
    let totals: CountingTotals?
    let answers: AnswerTotals?
    let rules: RuleStatus.Totals?
    private let now: Timestamp

    init(_ state: ServerState, rules: RuleStatus.Totals?) {
        server = state
        (policy, status, self.rules, now) = (state.policy.current, state.policy.status, rules, state.clock())
        (totals, answers) = (state.counting?.totals, state.counting?.answers)
    }

    func age(_ time: Timestamp) -> Double { Double(now.microsecondsSince1970 - time.microsecondsSince1970) / 1_000_000 }
}

/// A metric: its name, its help, and what it is.
///
/// A metric that OpenTelemetry names keeps that name, in the spelling of Prometheus
/// ([semantic conventions](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/)). Labels have few values each:
/// never a path, a version or an id that a client chose. Rules are at most ``RuleTotals/places``.
struct Metric: Sendable {
    let name: String
    fileprivate let write: @Sendable (MetricScrape, inout MetricsText) -> Void

    /// A metric of several samples; none where `samples` is nil.
    private init<Content>(
        _ kind: MetricsText.Kind,
        _ name: String,
        _ help: String,
        of content: @escaping @Sendable (MetricScrape) -> Content?,
        samples: @escaping @Sendable (Content, inout MetricsText) -> Void
    ) {
        self.name = name
        write = { scrape, text in
            guard let content = content(scrape) else { return }
            text.family(name, kind, help)
            samples(content, &text)
        }
    }

    private static func gauge<Value: CustomStringConvertible & Sendable>(
        _ name: String,
        _ help: String,
        _ value: @escaping @Sendable (MetricScrape) -> Value?
    ) -> Metric {
        Metric(.gauge, name, help, of: value) { $1.sample($0) }
    }

    /// 1 when something is so.
    private static func flag(
        _ name: String,
        _ help: String,
        _ isSo: @escaping @Sendable (MetricScrape) -> Bool?
    ) -> Metric {
        gauge(name, help) { scrape in isSo(scrape).map { $0 ? 1 : 0 } }
    }

    private static func counter(
        _ name: String,
        _ help: String,
        _ value: @escaping @Sendable (MetricScrape) -> Int?
    ) -> Metric {
        Metric(.counter, name, help, of: value) { $1.sample($0) }
    }

    private static func rules(
        _ name: String,
        _ what: String,
        _ totals: @escaping @Sendable (AnswerTotals) -> RuleTotals
    ) -> Metric {
        Metric(
            .counter, name, "\(what), by rule, for the first \(RuleTotals.places) rules; _other: all others.",
            of: { $0.answers }
        ) { answers, text in
            for (rule, total) in totals(answers).rules.sorted(by: { $0.key < $1.key }) {
                text.sample(total, ["rule": rule])
            }
            // No rule has this key, as a key begins with a letter or a digit.
            text.sample(totals(answers).other, ["rule": "_other"])
        }
    }

    static let all: [Metric] = ofListener + ofPolicy + ofCounting

    private static let ofListener: [Metric] = [
        Metric(
            .histogram, "http_server_request_duration_seconds",
            "Requests to the public listener, from their arrival to the end of the event loop tick that wrote the responses.",
            of: { $0.server.statistics.requests }
        ) { requests, text in
            for (kind, histogram) in requests.sorted(by: { $0.key.order < $1.key.order }) {
                text.samples(
                    histogram,
                    [
                        "http_request_method": kind.method.rawValue, "http_response_status_code": "\(kind.status)",
                        "http_route": kind.route.rawValue,
                    ]
                )
            }
        },
        .gauge("versiongate_connections", "Connections to the public listener.") {
            $0.server.statistics.openConnections
        },
        .counter("versiongate_connections_accepted", "Connections that the public listener accepted.") {
            $0.server.statistics.acceptedConnections
        },
        Metric(
            .counter, "versiongate_refusals", "Requests that were refused and connections that were ended, by reason.",
            of: { $0.server.statistics }
        ) { listener, text in
            for reason in RefusalReason.allCases { text.sample(listener.refusals(reason), ["reason": reason.rawValue]) }
        },
        .flag("versiongate_lockout_key_fault", "1 when the key that signs lockouts cannot be read.") {
            $0.server.lockoutKey.map { $0.fault != nil }
        },
        .gauge(
            "versiongate_tls_certificate_expiry_timestamp_seconds",
            "When the certificate of the public listener expires, in seconds since 1970."
        ) { $0.server.tls?.certificateExpiry },
        .counter(
            "versiongate_tls_certificate_reload_failures", "Failed attempts to read the certificate again."
        ) { $0.server.tls?.failedReloadCount },
    ]

    private static let ofPolicy: [Metric] = [
        Metric(
            .gauge, "versiongate_policy_source", "1 for where the policy that answers was loaded from.",
            of: { $0.status }
        ) { status, text in
            for (source, name) in [(PolicyStatus.Source?.some(.database), "database"), (.file, "file"), (nil, "none")] {
                text.sample(status.source == source ? 1 : 0, ["source": name])
            }
        },
        .gauge("versiongate_policy_revision", "Revision of the policy that answers.") { $0.policy?.revision },
        .gauge("versiongate_policy_age_seconds", "Time since the policy was loaded.") { scrape in
            scrape.status.loadedAt.map(scrape.age)
        },
        .gauge("versiongate_policy_apps", "Apps in the policy.") { $0.policy?.appCount ?? 0 },
        .gauge("versiongate_policy_releases", "Releases in the policy.") { $0.policy?.releaseCount ?? 0 },
        .gauge("versiongate_policy_rules", "Rules in the policy, enabled or not.") { $0.policy?.ruleCount ?? 0 },
        Metric(
            .gauge, "versiongate_policy_rule_status",
            "Rules in the database, by their status in the view rule_status.", of: { $0.rules }
        ) { totals, text in
            for status in RuleStatus.Name.allCases {
                for isLockout in [true, false] {
                    text.sample(
                        totals.rules[RuleStatus.Totals.Kind(status, isLockout: isLockout), default: 0],
                        ["lockout": "\(isLockout)", "status": status.rawValue]
                    )
                }
            }
        },
        Metric(
            .histogram, "versiongate_policy_reload_duration_seconds",
            "Loads of a policy that succeeded, from reading the database to the first check it can answer.",
            of: { $0.status.reloads }
        ) { $1.samples($0) },
        .counter("versiongate_policy_reload_failures", "Failed attempts to load a policy.") {
            $0.status.failureCount
        },
        .flag(
            "versiongate_policy_reload_fault",
            "1 when the newest policy of the database is not known to be the one that answers, because the last attempt failed."
        ) { $0.status.failure != nil },
        .flag(
            "versiongate_policy_file_fault", "1 when the last good policy cannot be kept on or read from disk."
        ) { $0.status.fileFault != nil },
        .flag(
            "versiongate_policy_held_back",
            "1 when the newest policy is not taken, because servers ended by it; lockouts are then sent as plain messages."
        ) { $0.status.isHoldingBack },
        .flag("versiongate_brake", "1 while the brake is on, which sends lockouts as plain messages.") {
            $0.status.brake != nil
        },
        .gauge(
            "versiongate_policy_poll_age_seconds", "Time since the database last said which revision it has."
        ) { scrape in scrape.status.lastPolledAt.map(scrape.age) },
        .gauge(
            "versiongate_database_clock_offset_seconds",
            "How far the clock of the database is ahead of that of this machine."
        ) { $0.status.databaseClockOffset },
        .flag(
            "versiongate_policy_follower_stalled",
            "1 when the follower of the database is stalled; a database that is down does not stall it."
        ) { $0.status.followerIsStalled(at: .now) },
        .flag("versiongate_database_up", "1 when the last attempt to speak with the database succeeded.") {
            $0.status.databaseIsReachable
        },
    ]

    private static let ofCounting: [Metric] = [
        .counter("versiongate_checks_counted", "Checks that were counted in memory.") { $0.totals?.recorded },
        .counter("versiongate_counts_other_kind", "Checks among them that were counted without their kind.") {
            $0.totals.map { $0.unlistedApp + $0.beyondBound }
        },
        .counter("versiongate_checks_unreadable_version", "Checks among them whose version cannot be read.") {
            $0.totals?.unreadableVersion
        },
        .counter("versiongate_counts_written", "Checks whose counts the database has.") { $0.totals?.written },
        .counter(
            "versiongate_counts_dropped",
            "Checks whose counts were dropped because the database could not be written."
        ) { $0.totals?.dropped },
        Metric(
            .counter, "versiongate_checks_answered",
            "Checks by what they were answered, up to the last time that counts were taken for the database.",
            of: { $0.answers }
        ) { answers, text in
            text.sample(answers.nothing, ["outcome": "nothing"])
            text.sample(answers.message, ["outcome": "message"])
            text.sample(answers.lockout, ["outcome": "lockout"])
        },
        .rules("versiongate_rule_messages", "Messages that were sent") { $0.messagesByRule },
        .rules("versiongate_rule_lockouts", "Lockouts that were sent") { $0.lockoutsByRule },
        .gauge(
            "versiongate_fuse_armed",
            "Rules of the policy that answers whose fuse may blow: enabled lockouts of apps that are not paused."
        ) { $0.policy?.armedFuseCount ?? 0 },
        .counter("versiongate_fuse_blown", "Rules whose fuse has blown because of what this server wrote.") {
            $0.totals?.blownFuses
        },
        .counter("versiongate_fuse_judging_failures", "Failed attempts to judge the fuses.") {
            $0.totals?.fuseFailures
        },
        .counter("versiongate_log_messages_dropped", "Log messages that could not be written, or not soon enough.") {
            $0.server.log?.droppedCount
        },
    ]
}

extension RequestKind {
    fileprivate var order: (String, String, UInt16) { (route.rawValue, method.rawValue, status) }
}
