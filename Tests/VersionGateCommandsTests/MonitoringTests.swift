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

    private static func node(_ file: String) throws -> Node {
        try #require(try Yams.compose(yaml: text(file)))
    }

    private static func alerts() throws -> [Node] {
        try node(alertsFile).list("groups").flatMap { $0.list("rules") }
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
        let expectations = try Self.node(Self.alertTestsFile).list("tests").flatMap { $0.list("alert_rule_test") }
        for alert in try Self.alerts() {
            let (name, severity) = (alert.text("alert"), alert["labels"]?.text("severity"))
            let own = expectations.filter { $0.text("alertname") == name }.map { $0.list("exp_alerts") }
            #expect(own.contains { $0.isEmpty }, "\(name) has no test in which it does not fire")
            #expect(
                own.contains { $0.contains { $0["exp_labels"]?.text("severity") == severity } },
                "\(name) of severity \(severity ?? "") has no test in which it fires"
            )
        }
    }

    @Test("Each alert leads to its section of the operations page, and each section is of an alert")
    func haveRunbooks() throws {
        let alerts = try Self.alerts()
        let sections = try Self.sections()
        #expect(Set(alerts.map { $0.text("alert") }) == Set(sections.keys))
        for alert in alerts {
            let (name, annotations) = (alert.text("alert"), alert["annotations"])
            #expect(["critical", "warning"].contains(alert["labels"]?.text("severity") ?? ""))
            let names = annotations?.mapping?.keys.compactMap(\.string) ?? []
            #expect(Set(names) == ["summary", "description", "runbook_url"])
            let page = "https://versiongate.example/\(Self.operations)#\(name.lowercased())"
            #expect(annotations?.text("runbook_url") == page)
        }
        for (name, section) in sections {
            for part in ["**Look:** ", "**Do:** "] {
                #expect(section.contains(part), "\(name) does not say \(part)")
            }
        }
    }

    // MARK: Dashboard

    /// The expressions of the dashboard, with values for Grafana's variables.
    private static func expressions(_ dashboard: Node) -> [String] {
        let parts = dashboard.list("panels").flatMap { $0.list("targets") } + dashboard.list("annotations", "list")
        return parts.map {
            $0.text("expr").replacing("$__rate_interval", with: "5m").replacing("$job", with: "a")
                .replacing("$instance", with: "b")
        }
    }

    /// Whether a part of the dashboard asks the Prometheus that a person chooses.
    private static func asksTheChosenOne(_ part: Node) -> Bool {
        part["datasource"]?.text("type") == "prometheus" && part["datasource"]?.text("uid") == "${datasource}"
    }

    @Test("The dashboard has panels that each say what is normal and what to do, by variables that it has")
    func isWhole() throws {
        let dashboard = try Self.node(Self.dashboardFile)
        let variables = dashboard.list("templating", "list")
        #expect(variables.map { $0.text("name") } == ["datasource", "job", "instance"])
        #expect(variables.map { $0.text("type") } == ["datasource", "query", "query"])
        let panels = dashboard.list("panels")
        #expect(Set(panels.map { $0["id"]?.int }).count == panels.count)
        let sections = try Self.sections()
        var taken: Set<[Int]> = []
        for panel in panels {
            let title = panel.text("title")
            let place = try ["x", "y", "w", "h"].map { try #require(panel["gridPos"]?[$0]?.int, "\(title)") }
            #expect(place[0] >= 0 && place[0] + place[2] <= 24, "\(title)")
            for x in place[0]..<place[0] + place[2] {
                for y in place[1]..<place[1] + place[3] {
                    #expect(taken.insert([x, y]).inserted, "\(title) lies over another panel")
                }
            }
            guard panel.text("type") != "row" else { continue }
            let description = panel.text("description")
            #expect(description.contains("Normal: "), "\(title)")
            for name in description.matches(of: /VersionGate[A-Za-z]+/) {
                #expect(sections[String(name.output)] != nil, "\(title) leads to \(name.output)")
            }
            let targets = panel.list("targets")
            #expect(!targets.isEmpty && Set(targets.map { $0.text("refId") }).count == targets.count, "\(title)")
            #expect(([panel] + targets).allSatisfy { Self.asksTheChosenOne($0) }, "\(title)")
            for target in targets {
                #expect(target.text("expr").contains(#"job=~"$job", instance=~"$instance""#), "\(title)")
            }
        }
        #expect(dashboard.list("annotations", "list").allSatisfy { Self.asksTheChosenOne($0) })
    }

    @Test(
        "Prometheus can read every expression of the dashboard",
        .enabled(if: Promtool.isExpected, "promtool is not on this machine")
    )
    func hasExpressions() async throws {
        let expressions = Self.expressions(try Self.node(Self.dashboardFile))
        #expect(expressions.count >= 30)
        let rules = expressions.enumerated().map { ["record": "expression:\($0)", "expr": $1] }
        let groups: [[String: Any]] = [["name": "dashboard", "rules": rules]]
        try await StateFolder.with { folder in
            let file = "\(folder.path)/rules.yml"
            try Yams.dump(object: ["groups": groups]).write(toFile: file, atomically: true, encoding: .utf8)
            try await Promtool.expectSuccess(["check", "rules", file])
        }
    }

    // MARK: Metrics

    @Test(
        "Metrics are what promtool accepts", .enabled(if: Promtool.isExpected, "promtool is not on this machine"),
        .migratedDatabase
    )
    func areAccepted() async throws {
        try await ServingBinary.run(.server()) { server in
            _ = try await server.check(UpdateRule.client)
            try await Promtool.expectSuccess(["check", "metrics"], input: server.management("/metrics").body)
        }
    }

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
        let dashboard = try Self.node(Self.dashboardFile)
        let queries = dashboard.list("templating", "list").filter { $0.text("type") == "query" }
            .map { $0["query"]?.string ?? $0["query"]?.text("query") ?? "" }
        let expressions = try Self.alerts().map { $0.text("expr") } + Self.expressions(dashboard) + queries
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
        for target in dashboard.list("panels").flatMap({ $0.list("targets") }) {
            let legend = target.text("legendFormat")
            for label in legend.matches(of: /\{\{([a-z_]+)\}\}/) {
                let isKept = label.output.1 == "instance" || target.text("expr").contains(label.output.1)
                #expect(isKept, "\(legend) of \(target.text("expr"))")
            }
        }
    }
}

extension Node {
    /// What a member of an object says; an empty text if there is none.
    fileprivate func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// The elements of the list at a path; none if there is no list.
    fileprivate func list(_ path: String...) -> [Node] {
        path.reduce(Node?.some(self)) { $0?[$1] }?.sequence.map { Array($0) } ?? []
    }
}
