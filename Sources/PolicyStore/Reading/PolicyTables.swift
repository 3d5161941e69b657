import Postgres
import UpdatePolicy

struct PolicyTables {
    let session: PostgresSession
    var detail = PolicyDetail.served
    /// The apps as they are spelled; nil: all.
    var bundles: [String]?
    var rulesForEveryApp = true
    /// The revision at which the rows stood, rebuilt from the history; nil: today's.
    var revision: Int64?

    func policy() throws -> Policy {
        let version = try PolicyReader.version(session)
        return Policy(
            revision: version.revision, token: version.token, apps: try apps(), releases: try releases(),
            rules: try rules()
        )
    }

    func rows(of table: PolicyTable) -> String {
        let name = "public.\(table.rawValue)"
        return revision.map { "public.rows_at(NULL::\(name), \($0)) AS \(table.rawValue)" } ?? name
    }

    private var condition: String {
        guard bundles != nil else { return "true" }
        return rulesForEveryApp ? "(bundle = ANY ($1) OR bundle IS NULL)" : "bundle = ANY ($1)"
    }

    private func condition(on column: String, of owner: PolicyTable, by key: String) -> String {
        bundles == nil ? "true" : "\(column) IN (SELECT \(key) FROM \(rows(of: owner)) WHERE \(condition))"
    }

    private func query(_ sql: String) throws -> PostgresResult { try session.query(sql, bundles.map { [$0] } ?? []) }

    private func apps() throws -> [App] {
        let links: [UTF8Text: [StoreLink]] = try children(where: condition)
        let templates: [UTF8Text: [FeedTemplate]] = try children(where: condition)
        return try records(by: "bundle") { app, _ in
            app.storeLinks = links[UTF8Text(app.bundle)] ?? []
            app.feedTemplates = templates[UTF8Text(app.bundle)] ?? []
        }
    }

    private func releases() throws -> [Release] {
        let notes: [UTF8Text: [ReleaseNote]] = try children(
            where: condition(on: "release", of: .releases, by: "id"))
        return try records(by: detail == .served ? "id" : Self.orderOfReleases, first: ["id::bigint"]) { release, row in
            release.id = try row.decode(0)
            release.notes = notes[UTF8Text("\(release.id)")] ?? []
        }
    }

    /// An order of releases that depends on their contents alone, except for releases that are equal in everything.
    private static let orderOfReleases = """
        bundle, platform, versiongate_internal.version_key(version), version,
        versiongate_internal.version_key(build) NULLS FIRST, build, regions NULLS FIRST, live_at NULLS FIRST,
        withdrawn_at NULLS FIRST, staged, min_os NULLS FIRST, note COLLATE "C" NULLS FIRST, id
        """

    private func rules() throws -> [Rule] {
        let isOfRule = condition(on: "rule", of: .rules, by: "key")
        let texts: [UTF8Text: [RuleText]] = try children(where: isOfRule)
        let steps: [UTF8Text: [RolloutStep]] = try children(where: isOfRule)
        var attributes: [UTF8Text: [AttributeCondition]] = [:]
        for row in try query(
            """
            SELECT rules.key, attribute.key AS name, attribute.value -> 'not' IS NOT NULL AS is_not,
                ARRAY(SELECT jsonb_array_elements_text(versiongate_internal.listed_texts(attribute.value))) AS texts,
                attribute.value ->> 'range' AS range
            FROM \(rows(of: .rules)), jsonb_each(rules.attributes) AS attribute WHERE \(condition)
            """
        ) {
            let texts = try row.decode("texts", as: [String].self).map { UTF8Text($0) }
            let range = try row.decode("range", as: String?.self).map { AcceptedValues.range(UTF8Text($0)) }
            let values: AcceptedValues = try range ?? (row.decode("is_not") ? .not(texts) : .among(texts))
            attributes[UTF8Text(try row.decode("key")), default: []].append(
                AttributeCondition(name: try row.decode("name"), values)
            )
        }
        return try records(by: "key") { rule, _ in
            let key = UTF8Text(rule.key)
            rule.attributes = attributes[key]
            rule.texts = texts[key] ?? []
            rule.steps = steps[key] ?? []
        }
    }

    private func records<Record: PolicyRecord>(
        by order: String,
        first columns: [String] = [],
        _ complete: (inout Record, PostgresRow) throws -> Void
    ) throws -> [Record] {
        let reader = RecordReader<Record>(detail, from: columns.count)
        let list = (columns + [reader.selectList]).joined(separator: ", ")
        return try query("SELECT \(list) FROM \(rows(of: Record.table)) WHERE \(condition) ORDER BY \(order)").map {
            row in
            var record = try reader.record(row)
            try complete(&record, row)
            return record
        }
    }

    /// The records that belong to an app, a release or a rule, by the bundle, the id or the key of that.
    private func children<Record: PolicyRecord>(where condition: String) throws -> [UTF8Text: [Record]] {
        let reader = RecordReader<Record>(detail, from: 1)
        let identity = Record.table.identity.map(\.name)
        var children: [UTF8Text: [Record]] = [:]
        for row in try query(
            """
            SELECT \(identity[0])::text, \(reader.selectList) FROM \(rows(of: Record.table))
            WHERE \(condition) ORDER BY \(identity.joined(separator: ", "))
            """
        ) {
            children[UTF8Text(try row.decode(0)), default: []].append(try reader.record(row))
        }
        return children
    }
}
