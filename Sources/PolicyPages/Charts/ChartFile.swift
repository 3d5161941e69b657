import Hummingbird
import PolicyStore
import Postgres
import UpdatePolicy

/// The numbers of one chart as a CSV file.
struct ChartFile: Page {
    /// What a chart is about.
    enum Owner {
        case allApps
        case app(String)
        case rule(String)
    }

    struct Figures: Sendable {
        /// Nil: there is no such chart.
        let chart: Chart?
        /// The names of those that there are.
        let names: [String]
    }

    private let name: String
    private let owner: String
    private let charts: @Sendable (PostgresSession) -> [ChartQuery]

    init(_ name: String, of owner: Owner, _ period: PagePeriod, _ context: PageContext) throws(PageProblem) {
        self.name = name
        let (days, now) = (period.days, context.now)
        switch owner {
        case .allApps:
            self.owner = "overview"
            charts = { LockoutFigures.charts(at: now, $0) }
        case .app(let bundle):
            let app = try context.section(ofApp: bundle).app
            let policy = context.policy(ofApp: app.bundle)
            self.owner = app.bundle
            charts = { AppCounts(bundle: app.bundle, in: policy, days: days, at: now, $0).charts }
        case .rule(let key):
            let rule = try context.rule(key).rule
            let policy = context.policy(ofApp: rule.bundle)
            self.owner = rule.key
            charts = { RuleCounts(of: rule, in: policy, days: days, at: now, $0).charts }
        }
    }

    func figures(_ session: PostgresSession) throws -> Figures {
        let charts = charts(session)
        return Figures(chart: try charts.first { $0.name == name }?.chart(), names: charts.map(\.name))
    }

    func response(_ figures: Figures?, _ context: PageContext) throws -> Response {
        guard let figures else { throw PageProblem(503, "These numbers cannot be read", context.reasons) }
        guard let chart = figures.chart else {
            let names = figures.names.joined(separator: ", ")
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
