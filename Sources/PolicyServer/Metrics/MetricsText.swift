import CheckListener

/// Writes metrics in the text format of [Prometheus](https://prometheus.io/docs/instrumenting/exposition_formats/).
struct MetricsText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    typealias Labels = KeyValuePairs<String, String>

    private(set) var document = ""
    private var name = ""

    /// Begins a family; its samples follow. The samples of a counter end in `_total`.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.name = kind == .counter ? name + "_total" : name
        document += "# HELP \(self.name) \(Self.escaped(help))\n# TYPE \(self.name) \(kind.rawValue)\n"
    }

    mutating func sample(_ value: some CustomStringConvertible, _ labels: Labels = [:]) {
        add(labels.map { (name: $0.key, value: $0.value) }, value)
    }

    /// Adds the samples of a histogram of durations, in seconds.
    mutating func samples(_ histogram: DurationHistogram, _ labels: Labels = [:]) {
        let labels = labels.map { (name: $0.key, value: $0.value) }
        var below: UInt64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
            below += count
            add(suffix: "_bucket", labels + [(name: "le", value: Self.seconds(bound))], below)
        }
        add(suffix: "_bucket", labels + [(name: "le", value: "+Inf")], histogram.count)
        add(suffix: "_count", labels, histogram.count)
        add(suffix: "_sum", labels, Self.seconds(histogram.sum))
    }

    private mutating func add(
        suffix: String = "",
        _ labels: [(name: String, value: String)],
        _ value: some CustomStringConvertible
    ) {
        let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        document += "\(name)\(suffix)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)\n"
    }

    private static func seconds(_ nanoseconds: UInt64) -> String { "\(Double(nanoseconds) / 1e9)" }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
