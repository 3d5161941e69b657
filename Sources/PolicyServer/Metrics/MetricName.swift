// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The names of all metrics, as they are exposed.
///
/// A metric that OpenTelemetry names keeps that name, in the spelling of Prometheus
/// ([semantic conventions](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/)). Labels have few values each:
/// never a path, a version or an id that a client chose. Rules are at most ``RuleTotals/places``.
enum MetricName {
    static let requestDuration = "http_server_request_duration_seconds"
    static let policyRevision = "versiongate_policy_revision"
    static let policyAge = "versiongate_policy_age_seconds"
    static let policySource = "versiongate_policy_source"
    static let policyApps = "versiongate_policy_apps"
    static let policyReleases = "versiongate_policy_releases"
    static let policyRules = "versiongate_policy_rules"
    static let policyRuleStatus = "versiongate_policy_rule_status"
    static let policyReloadDuration = "versiongate_policy_reload_duration_seconds"
    static let policyReloadFailures = "versiongate_policy_reload_failures"
    static let policyReloadFault = "versiongate_policy_reload_fault"
    static let policyFileFault = "versiongate_policy_file_fault"
    static let policyHeldBack = "versiongate_policy_held_back"
    static let brake = "versiongate_brake"
    static let policyPollAge = "versiongate_policy_poll_age_seconds"
    static let followerStalled = "versiongate_policy_follower_stalled"
    static let logDropped = "versiongate_log_messages_dropped"
    static let databaseClockOffset = "versiongate_database_clock_offset_seconds"
    static let databaseUp = "versiongate_database_up"
    static let checksCounted = "versiongate_checks_counted"
    static let checksAnswered = "versiongate_checks_answered"
    static let checksUnreadableVersion = "versiongate_checks_unreadable_version"
    static let ruleMessages = "versiongate_rule_messages"
    static let ruleLockouts = "versiongate_rule_lockouts"
    static let countsWritten = "versiongate_counts_written"
    static let countsDropped = "versiongate_counts_dropped"
    static let countsOtherKind = "versiongate_counts_other_kind"
    static let connections = "versiongate_connections"
    static let acceptedConnections = "versiongate_connections_accepted"
    static let certificateExpiry = "versiongate_tls_certificate_expiry_timestamp_seconds"
    static let certificateReloadFailures = "versiongate_tls_certificate_reload_failures"
    static let lockoutKeyFault = "versiongate_lockout_key_fault"
    static let refusals = "versiongate_refusals"
}
