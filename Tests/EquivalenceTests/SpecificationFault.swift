import Postgres
import Testing

/// A fault in one function of the specification: a passage of its source, and a wrong one in its place.
struct SpecificationFault: Sendable {
    let description: String
    let function: String
    let passage: String
    let wrongPassage: String
    /// A seed from which the fault is found soon.
    let seed: UInt64

    init(
        _ description: String,
        seed: UInt64,
        in function: String,
        _ passage: String,
        becomes wrongPassage: String
    ) {
        self.description = description
        self.seed = seed
        self.function = function
        self.passage = passage
        self.wrongPassage = wrongPassage
    }

    /// Has the fault in the database while `body` runs.
    func inject<Result>(_ session: PostgresSession, while body: () throws -> Result) throws -> Result {
        let source = try session.query("SELECT pg_get_functiondef($1::regproc)", [function]).value(as: String.self)
        let parts = source.split(separator: passage, omittingEmptySubsequences: false)
        try #require(parts.count > 1, "\(function) has no passage \"\(passage)\"")
        try session.execute(parts.joined(separator: wrongPassage))
        let result = Swift.Result { try body() }
        try session.execute(source)
        return try result.get()
    }
}

extension SpecificationFault {
    /// Faults of which each is to be found.
    static let all = [
        SpecificationFault(
            "soak is added in the session's time zone", seed: 38, in: "versiongate_internal.client_offers",
            "moment - s.live_at >= soak.time", becomes: "s.live_at + soak.time <= moment"
        ),
        SpecificationFault(
            "the bucket is signed", seed: 1, in: "rollout_bucket", "::bit(32)::bigint", becomes: "::bit(32)::integer"
        ),
        SpecificationFault(
            "the end is inclusive", seed: 21, in: "versiongate_internal.judge_conditions", "moment >= a.ends_at",
            becomes: "moment > a.ends_at"
        ),
        SpecificationFault(
            "a step holds only after its time", seed: 2, in: "rollout_at", "s.at <= least(rollout_at.at, r.held_at)",
            becomes: "s.at < least(rollout_at.at, r.held_at)"
        ),
        SpecificationFault(
            "a hold is ignored", seed: 2, in: "rollout_at", "least(rollout_at.at, r.held_at)", becomes: "rollout_at.at"
        ),
        SpecificationFault(
            "a status ignores a hold", seed: 2, in: "versiongate_internal.status_periods",
            "rollout_at((m.rule).key, m.at)",
            becomes:
                "coalesce((SELECT max(s.rollout) FROM rollout_steps s WHERE s.rule = (m.rule).key AND s.at <= m.at), 0)"
        ),
        SpecificationFault(
            "the way out does not look at builds", seed: 296, in: "versiongate_internal.judge_rules",
            "me, j.version_spans, j.build_spans, j.target_key", becomes: "me, j.version_spans, NULL, j.target_key"
        ),
        SpecificationFault(
            "a release is above its own pre-releases", seed: 79, in: "versiongate_internal.release_is_above",
            "client_version < version_family(release_version)", becomes: "client_version < release_version"
        ),
        SpecificationFault(
            "a release with the client's numbers is above it", seed: 13, in: "versiongate_internal.release_is_above",
            "client_version < version_family(release_version)",
            becomes: "version_family(client_version) <= version_family(release_version)"
        ),
        SpecificationFault(
            "ends of lines are no blanks", seed: 10, in: "versiongate_internal.version_key", "E' \\t\\r\\n'",
            becomes: "E' \\t'"
        ),
        SpecificationFault(
            "languages, regions and platforms of any length are read", seed: 2, in: "versiongate_internal.read_client",
            "octet_length(written) > 64", becomes: "octet_length(written) > 65"
        ),
        SpecificationFault(
            "attributes of any length are read", seed: 15, in: "versiongate_internal.read_client",
            "octet_length(written) > 1024", becomes: "octet_length(written) > 1025"
        ),
        SpecificationFault(
            "what an attribute must not be is what it must be", seed: 1, in: "versiongate_internal.accepts",
            "(jsonb_typeof(accepted) = 'array'::text)", becomes: "true"
        ),
        SpecificationFault(
            "an attribute is in any range", seed: 1, in: "versiongate_internal.accepts",
            "version_matches(sent, (accepted ->> 'range'::text))", becomes: "version_matches(sent, '*')"
        ),
        SpecificationFault(
            "a language is looked up whole", seed: 6, in: "versiongate_internal.language_fallbacks",
            "WHILE cardinality(subtags) > 0 LOOP", becomes: "RETURN ARRAY[tag]; LOOP"
        ),
        SpecificationFault(
            "iOS 25 is a system", seed: 1, in: "versiongate_internal.is_system",
            "WHEN 'ios' THEN os_key < '\\x043139' OR os_key >= '\\x043236'",
            becomes: "WHEN 'ios' THEN os_key < '\\x043139' OR os_key >= '\\x043235'"
        ),
        SpecificationFault(
            "a number that no system ever had can be judged", seed: 1, in: "versiongate_internal.client_releases",
            "CASE WHEN is_system THEN me.os_key END", becomes: "me.os_key"
        ),
        SpecificationFault(
            "the code of a language is not brought into today's form", seed: 1, in: "versiongate_internal.language_tag",
            "current_language(tag)", becomes: "tag"
        ),
        SpecificationFault(
            "Macau writes the simplified script", seed: 1, in: "versiongate_internal.current_language",
            "IN ('tw', 'hk', 'mo')", becomes: "IN ('tw', 'hk')"
        ),
        SpecificationFault(
            "a region is read behind a single letter", seed: 19, in: "versiongate_internal.country_of_region",
            "EXIT WHEN subtags[place] COLLATE \"C\" ~ '^[A-Za-z]$';", becomes: ""
        ),
        SpecificationFault(
            "a final rule ends the list also when it is not sent", seed: 2, in: "versiongate_internal.judge_rules",
            "j.failed IS NULL AND j.final", becomes: "j.final"
        ),
        SpecificationFault(
            "what the person asked for ends the list", seed: 1, in: "versiongate_internal.judge_rules",
            "j.final AND NOT j.behind_rollout", becomes: "j.final"
        ),
        SpecificationFault(
            "what the person asked for locks out", seed: 1, in: "versiongate_internal.judge_rules",
            "last_sent.key IS NULL AND NOT j.behind_rollout AND dead_end", becomes: "last_sent.key IS NULL AND dead_end"
        ),
        SpecificationFault(
            "the target may be equal to the client", seed: 1, in: "versiongate_internal.judge_conditions",
            "(me.version_key < a.target_key AND", becomes: "(me.version_key <= a.target_key AND"
        ),
        SpecificationFault(
            "a system just at the min_os of a release has no way out by it", seed: 7,
            in: "versiongate_internal.class_ways", "coalesce(h.min_os, '') = coalesce(c.min_os, '')",
            becomes: "(h.min_os IS NULL AND c.min_os IS NULL OR h.min_os < c.min_os)"
        ),
        SpecificationFault(
            "a final rule hides those before it", seed: 21, in: "versiongate_internal.hidden_rules",
            #"(f."position", f.key) < (r."position", r.key)"#,
            becomes: #"(f."position", f.key) > (r."position", r.key)"#
        ),
        SpecificationFault(
            "a target waits for the date of a release and not for its soak", seed: 1,
            in: "versiongate_internal.reached_times",
            "time_span(t.soaked_at, (t.release).withdrawn_at)",
            becomes: "time_span((t.release).live_at, (t.release).withdrawn_at)"
        ),
        SpecificationFault(
            "placeholders are filled in one after the other", seed: 10, in: "versiongate_internal.fill_placeholders",
            "replace(template, '{app}', U&'\\0001')", becomes: "replace(template, '{app}', app)"
        ),
    ]
}
