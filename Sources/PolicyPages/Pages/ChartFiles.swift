import Hummingbird
import PolicyStore
import Postgres
import UpdatePolicy

/// The numbers of a chart as a CSV file.
extension Page {
    func overviewChart() throws -> Response {
        try chart(of: "overview") { LockoutFigures.charts(at: now, $0) }
    }

    func appChart() throws -> Response {
        let days = try question.days()
        let app = try namedApp().app
        let policy = policy(ofApp: app.bundle)
        return try chart(of: app.bundle) {
            AppCounts(bundle: app.bundle, in: policy, days: days, at: now, $0).charts
        }
    }

    func ruleChart() throws -> Response {
        let days = try question.days()
        let rule = try namedRule().rule
        let policy = policy(ofApp: rule.bundle)
        return try chart(of: rule.key) { RuleCounts(of: rule, in: policy, days: days, at: now, $0).charts }
    }

    /// - Parameter owner: What the charts are about.
    private func chart(of owner: String, _ charts: (PostgresSession) -> [ChartQuery]) throws -> Response {
        guard let session = try session else {
            return problem(PageProblem(503, "These numbers cannot be read", Sentence(reasons)))
        }
        let (name, charts) = (question.part("chart"), charts(session))
        guard let chart = try charts.first(where: { $0.name == name })?.chart() else {
            let names = charts.map(\.name).joined(separator: ", ")
            throw PageProblem(404, "There is no such chart", "\(owner) has \(names).")
        }
        // Of the names of both, what no header field and no file system minds.
        let file = "\(owner)-\(name)".unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789.-".unicodeScalars.contains(scalar))
                ? Character(scalar) : "_"
        }
        return .page(
            .ok, "text/csv", chart.csv,
            [.contentDisposition: "attachment; filename=\"\(String(file.prefix(200))).csv\""]
        )
    }
}
