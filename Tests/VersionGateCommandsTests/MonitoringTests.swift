import Foundation
import Synchronization
import TestDatabase
import TestRandom
import TestSystem
import Testing
import Yams

@Suite("Alerts and dashboard", .whole)
struct MonitoringTests {
    private static let alertsFile = "deploy/prometheus/alerts.yml"
    private static let alertTestsFile = "deploy/prometheus/alerts.test.yml"
    private static let dashboardFile = "deploy/grafana/versiongate.json"
    private static let operations = "Documentation/Operations.md"

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: RepositoryFile.url(file), encoding: .utf8)
    }

    // MARK: Alerts

    private struct Alert: Decodable {
        let alert: String
        let expr: String
        let labels: [String: String]
        let annotations: [String: String]
    }

    private static func alerts() throws -> [Alert] {
        struct File: Decodable {
            struct Group: Decodable { let rules: [Alert] }
            let groups: [Group]
        }
        return try YAMLDecoder().decode(File.self, from: text(alertsFile)).groups.flatMap(\.rules)
    }

    /// The headings of the operations page that are names of alerts, with what stands below each.
    private static func sections() throws -> [String: String] {
        let parts = try text(operations).components(separatedBy: "\n### ").filter { $0.hasPrefix("VersionGate") }
        return Dictionary(
            uniqueKeysWithValues: parts.map { part in
                let name = String(part.prefix { !$0.isNewline })
                return (name, part.dropFirst(name.count).components(separatedBy: "\n## ")[0])
            }
        )
    }

    @Test(
        "Prometheus takes the alerts, and each fires and does not fire as their tests say",
        .enabled(if: Promtool.isExpected, "promtool is not on this machine")
    )
    func fire() async throws {
        try await Promtool.expectSuccess(["check", "rules", RepositoryFile.url(Self.alertsFile).path])
        try await Promtool.expectSuccess(["test", "rules", RepositoryFile.url(Self.alertTestsFile).path])
    }

    @Test("Each alert, in each severity, has a test in which it fires, and one in which it does not")
    func areTested() throws {
        struct File: Decodable {
            struct Case: Decodable {
                struct Expectation: Decodable {
                    struct Firing: Decodable { let exp_labels: [String: String] }
                    let alertname: String
                    let exp_alerts: [Firing]
                }
                let alert_rule_test: [Expectation]?
            }
            let tests: [Case]
        }
        let cases = try YAMLDecoder().decode(File.self, from: Self.text(Self.alertTestsFile)).tests
        let expectations = cases.flatMap { $0.alert_rule_test ?? [] }
        for alert in try Self.alerts() {
            let own = expectations.filter { $0.alertname == alert.alert }
            #expect(own.contains { $0.exp_alerts.isEmpty }, "\(alert.alert) has no test in which it does not fire")
            #expect(
                own.contains { $0.exp_alerts.contains { $0.exp_labels["severity"] == alert.labels["severity"] } },
                "\(alert.alert) \(alert.labels) has no test in which it fires"
            )
        }
    }

    @Test("Each alert leads to its section of the operations page, and each section is of an alert")
    func haveRunbooks() throws {
        let alerts = try Self.alerts()
        let sections = try Self.sections()
        #expect(Set(alerts.map(\.alert)) == Set(sections.keys))
        for alert in alerts {
            let severity = try #require(alert.labels["severity"])
            #expect(["critical", "warning"].contains(severity))
            #expect(Set(alert.annotations.keys) == ["summary", "description", "runbook_url"], "\(alert.alert)")
            let page = "https://versiongate.example/\(Self.operations)#\(alert.alert.lowercased())"
            #expect(alert.annotations["runbook_url"] == page)
        }
        for (name, section) in sections {
            for part in ["**Look:** ", "**Do:** "] {
                #expect(section.contains(part), "\(name) does not say \(part)")
            }
        }
    }

    // MARK: Dashboard

    private struct Dashboard: Decodable {
        struct DataSource: Decodable, Equatable {
            let type: String
            let uid: String
        }
        struct Target: Decodable {
            let refId: String
            let expr: String
            let legendFormat: String
            let datasource: DataSource
        }
        struct Position: Decodable {
            let h: Int
            let w: Int
            let x: Int
            let y: Int
        }
        struct Panel: Decodable {
            let id: Int
            let type: String
            let title: String
            let description: String?
            let datasource: DataSource?
            let targets: [Target]?
            let gridPos: Position
        }
        struct Templating: Decodable {
            struct Variable: Decodable {
                struct Query: Decodable {
                    let text: String
                    init(from decoder: any Decoder) throws {
                        struct Named: Decodable { let query: String }
                        let container = try decoder.singleValueContainer()
                        text = try (try? container.decode(String.self)) ?? container.decode(Named.self).query
                    }
                }
                let name: String
                let type: String
                let query: Query
            }
            let list: [Variable]
        }
        struct Annotations: Decodable {
            struct Annotation: Decodable {
                let expr: String
                let datasource: DataSource
            }
            let list: [Annotation]
        }
        let uid: String
        let panels: [Panel]
        let templating: Templating
        let annotations: Annotations

        /// All expressions, with values for Grafana's variables.
        var expressions: [String] {
            let expressions = panels.flatMap { $0.targets ?? [] }.map(\.expr) + annotations.list.map(\.expr)
            return expressions.map {
                $0.replacing("$__rate_interval", with: "5m").replacing("$job", with: "a").replacing(
                    "$instance",
                    with: "b"
                )
            }
        }
    }

    private static func dashboard() throws -> Dashboard {
        try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: RepositoryFile.url(dashboardFile)))
    }

    @Test("The dashboard has panels that each say what is normal and what to do, by variables that it has")
    func isWhole() throws {
        let dashboard = try Self.dashboard()
        let variables = dashboard.templating.list
        #expect(variables.map(\.name) == ["datasource", "job", "instance"])
        #expect(variables.map(\.type) == ["datasource", "query", "query"])
        let source = Dashboard.DataSource(type: "prometheus", uid: "${datasource}")
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        let sections = try Self.sections()
        var taken: Set<[Int]> = []
        for panel in dashboard.panels {
            let place = panel.gridPos
            #expect(place.x >= 0 && place.x + place.w <= 24, "\(panel.title)")
            for x in place.x..<place.x + place.w {
                for y in place.y..<place.y + place.h {
                    #expect(taken.insert([x, y]).inserted, "\(panel.title) lies over another panel")
                }
            }
            guard panel.type != "row" else { continue }
            let description = try #require(panel.description, "\(panel.title)")
            #expect(description.contains("Normal: "), "\(panel.title)")
            for name in description.matches(of: /VersionGate[A-Za-z]+/) {
                #expect(sections[String(name.output)] != nil, "\(panel.title) leads to \(name.output)")
            }
            #expect(panel.datasource == source, "\(panel.title)")
            let targets = try #require(panel.targets)
            #expect(!targets.isEmpty && Set(targets.map(\.refId)).count == targets.count, "\(panel.title)")
            for target in targets {
                #expect(target.datasource == source)
                #expect(target.expr.contains(#"job=~"$job", instance=~"$instance""#), "\(panel.title)")
            }
        }
        #expect(dashboard.annotations.list.allSatisfy { $0.datasource == source })
    }

    @Test(
        "Prometheus can read every expression of the dashboard",
        .enabled(if: Promtool.isExpected, "promtool is not on this machine")
    )
    func hasExpressions() async throws {
        struct File: Encodable {
            struct Rule: Encodable {
                let record: String
                let expr: String
            }
            struct Group: Encodable {
                let name: String
                let rules: [Rule]
            }
            let groups: [Group]
        }
        let expressions = try Self.dashboard().expressions
        #expect(expressions.count >= 30)
        let rules = expressions.enumerated().map { File.Rule(record: "expression:\($0)", expr: $1) }
        try await StateFolder.with { folder in
            let file = "\(folder.path)/rules.yml"
            try YAMLEncoder().encode(File(groups: [File.Group(name: "dashboard", rules: rules)]))
                .write(toFile: file, atomically: true, encoding: .utf8)
            try await Promtool.expectSuccess(["check", "rules", file])
        }
    }

    // MARK: Metrics

    /// The series of a server: the labels with their values, by the names of metrics.
    private struct Series {
        var labels: [String: [String: Set<String>]] = [:]

        /// Adds what a server writes.
        mutating func add(_ metrics: String) {
            for line in metrics.split(separator: "\n") {
                guard !line.hasPrefix("#") else { continue }
                let name = String(line.prefix { $0 != "{" && $0 != " " })
                labels[name] = labels[name] ?? [:]
                for label in line.matches(of: /([a-z_]+)="([^"]*)"/) {
                    labels[name, default: [:]][String(label.output.1), default: []].insert(String(label.output.2))
                }
            }
        }
    }

    /// What servers write that have a database, or TLS and a lockout key.
    private static func series(_ database: TestDatabase) async throws -> Series {
        let collected = Mutex(Series())
        let binary = BuiltBinary(environment: ["DATABASE_URL": database.url(user: "versiongate_server")])
        try await ServingBinary.run(binary) { server in
            for path in ["/v1/check", "/tables/vLoadMessages"] {
                _ = try await server.check(#"{"bundle":"a"}"#, at: path)
            }
            var metrics = ""
            try await Poll.until("what the database says of the rules") {
                metrics = try await server.management("/metrics").body
                return metrics.contains("versiongate_policy_rule_status{")
            }
            collected.withLock { [metrics] in $0.add(metrics) }
        }
        try await StateFolder.with { folder in
            let certificate = try await TestCertificate(in: folder.path, name: "first")
            let arguments = [
                "--tls-certificate", certificate.certificate, "--tls-key", certificate.key,
                "--lockout-key", certificate.key,
            ]
            try await ServingBinary.run(binary, arguments: arguments) { server in
                let metrics = try await server.management("/metrics").body
                collected.withLock { $0.add(metrics) }
            }
        }
        return collected.withLock { $0 }
    }

    /// Labels that Prometheus adds to each series.
    private static let targetLabels: Set = ["job", "instance"]

    @Test("Alerts and dashboard name metrics, labels and values that a server writes", .migratedDatabase)
    func nameWhatThereIs() async throws {
        var series = try await Self.series(.current)
        series.labels["up"] = [:]
        let dashboard = try Self.dashboard()
        let queries = dashboard.templating.list.filter { $0.type == "query" }.map(\.query.text)
        let expressions = try Self.alerts().map(\.expr) + dashboard.expressions + queries
        for expression in expressions {
            var known = Self.targetLabels
            let metric = /\b(up|(?:versiongate|http_server)_[a-z0-9_]+)\b(?:\{([^}]*)\})?/
            let uses = expression.matches(of: metric)
            #expect(!uses.isEmpty, "\(expression)")
            for use in uses {
                let name = String(use.output.1)
                guard let labels = series.labels[name] else {
                    Issue.record("there is no metric \(name), which is named by \(expression)")
                    continue
                }
                known.formUnion(labels.keys)
                for matcher in (use.output.2 ?? "").matches(of: /([a-z_]+)(?:=~|!~|!=|=)"([^"]*)"/) {
                    let label = String(matcher.output.1)
                    guard !Self.targetLabels.contains(label) else { continue }
                    for value in matcher.output.2.split(separator: "|") {
                        #expect(
                            labels[label]?.contains(String(value)) == true,
                            "\(name) has no \(label)=\"\(value)\", which is asked for by \(expression)"
                        )
                    }
                }
            }
            for list in expression.matches(of: /\b(?:by|on|group_left|without|ignoring) \(([^)]*)\)/) {
                for label in list.output.1.split(whereSeparator: { $0 == "," || $0 == " " }) {
                    #expect(known.contains(String(label)), "no metric of \(expression) has the label \(label)")
                }
            }
        }
        for target in dashboard.panels.flatMap({ $0.targets ?? [] }) {
            for label in target.legendFormat.matches(of: /\{\{([a-z_]+)\}\}/) {
                let isKept = label.output.1 == "instance" || target.expr.contains(label.output.1)
                #expect(isKept, "\(target.legendFormat) of \(target.expr)")
            }
        }
    }
}
