import CheckListener

/// Writes metrics in a text format of Prometheus.
struct MetricsText {
    /// The text formats, which differ in little.
    enum Format {
        /// [Prometheus 0.0.4](https://prometheus.io/docs/instrumenting/exposition_formats/), the usual format.
        case prometheus
        /// [OpenMetrics 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/), on request.
        case openMetrics

        /// The format that an Accept header prefers.
        init(accept: String?) {
            self = accept?.contains("application/openmetrics-text") == true ? .openMetrics : .prometheus
        }

        /// The media type of a document.
        var mediaType: String {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    /// The type of a family.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    typealias Labels = [(name: String, value: String)]

    private let format: Format
    private var text = ""

    /// The whole document.
    var document: String { format == .openMetrics ? text + "# EOF\n" : text }

    init(_ format: Format) {
        self.format = format
    }

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String, unit: String? = nil) {
        // What OpenMetrics calls the family of a counter is in Prometheus the name of its samples.
        let name = kind == .counter && format == .prometheus ? name + "_total" : name
        text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
        if let unit, format == .openMetrics { text += "# UNIT \(name) \(unit)\n" }
    }

    /// Adds a sample of a gauge.
    mutating func gauge(_ name: String, _ value: some CustomStringConvertible, _ labels: Labels = []) {
        sample(name, value, labels)
    }

    /// Adds a sample of a counter.
    mutating func counter(_ name: String, _ value: some BinaryInteger, _ labels: Labels = []) {
        sample(name + "_total", value, labels)
    }

    /// Adds the samples of a histogram of durations, in seconds.
    mutating func histogram(_ name: String, _ histogram: DurationHistogram, _ labels: Labels = []) {
        var below: UInt64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
            below += count
            sample(name + "_bucket", below, labels + [("le", Self.seconds(bound))])
        }
        sample(name + "_bucket", histogram.count, labels + [("le", "+Inf")])
        sample(name + "_count", histogram.count, labels)
        sample(name + "_sum", Self.seconds(histogram.sum), labels)
    }

    private mutating func sample(_ name: String, _ value: some CustomStringConvertible, _ labels: Labels) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    private static func seconds(_ nanoseconds: UInt64) -> String {
        "\(Double(nanoseconds) / 1e9)"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
