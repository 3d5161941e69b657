import PolicyStore
import UpdatePolicy

/// Where the values of a chart lie on an axis, and the ticks of it.
struct ChartScale {
    let end: Double
    let ticks: [Double]
    private let unit: Chart.Unit

    /// A scale from 0 to a round number that holds all values.
    ///
    /// - Parameter isWhole: Whether shares are of a whole that is shown: then the scale ends at 100 %.
    init(to greatest: Double, unit: Chart.Unit, isWhole: Bool) {
        self.unit = unit
        if unit == .share, isWhole || greatest > 0.5 {
            end = 1
            ticks = [0, 0.25, 0.5, 0.75, 1]
            return
        }
        // The least round step of which at most five reach the greatest value: 1, 2, 2.5 or 5 times a power of ten.
        let least = unit == .share ? 0.001 : 1
        var power = least
        var step = least
        while step * 5 < greatest {
            let factors = unit == .share || power >= 10 ? [1, 2, 2.5, 5, 10] : [1, 2, 5, 10]
            step = factors.map { $0 * power }.first { $0 * 5 >= greatest } ?? power * 10
            power *= 10
        }
        let count = max(1, Int((greatest / step - 1e-9).rounded(.up)))
        end = Double(count) * step
        ticks = (0...count).map { Double($0) * step }
    }

    /// A tick in words: `25 %`, `1.5 k`.
    func label(_ value: Double) -> String {
        if unit == .share { return "\((value * 100).written(decimals: 2)) %" }
        let units = [(1e9, " G"), (1e6, " M"), (1e3, " k")]
        guard let (size, name) = units.first(where: { $0.0 <= value }) else {
            return value.written(decimals: 2)
        }
        return (value / size).written(decimals: 2) + name
    }
}

/// The places of a chart on its horizontal axis, and the ticks of it.
struct ChartPlaces {
    /// Where each place begins, from 0 to 1, and where the last one ends.
    let edges: [Double]
    /// Labels, and where they are, from 0 to 1.
    let ticks: [(at: Double, label: String)]
    /// What a step of the axis is; nil for names.
    let step: String?
    private let first: Int64
    private let length: Int64

    private static let minute: Int64 = 60_000_000
    private static let hour = 60 * minute
    private static let day: Int64 = 24 * hour
    private static let mostTicks: Int64 = 6

    init(_ axis: Chart.Axis) {
        let starts: [Int64]
        switch axis {
        case .time(let times): starts = times.map(\.microsecondsSince1970)
        case .elapsed(let times): starts = times
        case .names(let names): starts = names.indices.map { Int64($0) }
        }
        let width = starts.count > 1 ? starts[starts.count - 1] - starts[starts.count - 2] : Self.hour
        first = starts.first ?? 0
        length = max(1, (starts.last ?? 0) + width - first)
        let (origin, whole) = (first, Double(length))
        edges = (starts + [origin + length]).map { Double($0 - origin) / whole }
        switch axis {
        case .time:
            step =
                "per \(width < Self.hour ? "\(width / Self.minute) minutes" : width < Self.day ? "hour" : "day"), UTC"
            ticks = Self.times(starts, width).map { (Double($0 - origin) / whole, $1) }
        case .elapsed:
            step = "by time since the release"
            ticks = Self.durations(length).map { (Double($0) / whole, $1) }
        case .names: (step, ticks) = (nil, [])
        }
    }

    /// Where a time lies on an axis of time, from 0 to 1.
    func position(of time: Timestamp) -> Double {
        min(1, max(0, Double(time.microsecondsSince1970 - first) / Double(length)))
    }

    /// Round hours of a day, whole weeks, or the first days of months.
    private static func times(_ starts: [Int64], _ width: Int64) -> [(Int64, String)] {
        func text(_ time: Int64) -> Timestamp { Timestamp(microsecondsSince1970: time) }
        guard width >= day else {
            let step = step(of: [30, 60, 120, 180, 360, 720, 1440], for: Int64(starts.count) * width)
            return starts.filter { $0 % step == 0 }.map { start in
                let time = NumberText.timeOfDay(text(start))
                return (start, time == "00:00" ? String(NumberText.date(text(start)).suffix(5)) : time)
            }
        }
        if starts.count > 60 {
            let months = starts.filter { CivilDate(daysSince1970: $0 / day).day == 1 }
            let step = max(1, (months.count + Int(mostTicks) - 1) / Int(mostTicks))
            return months.enumerated().filter { $0.offset % step == 0 }
                .map { ($0.element, String(NumberText.date(text($0.element)).prefix(7))) }
        }
        let step = [1, 2, 7, 14].first { (starts.count + $0 - 1) / $0 <= Int(mostTicks) } ?? 14
        return starts.enumerated().filter { (starts.count - 1 - $0.offset) % step == 0 }
            .map { ($0.element, String(NumberText.date(text($0.element)).suffix(5))) }
    }

    private static func durations(_ length: Int64) -> [(Int64, String)] {
        let step = step(of: [1, 2, 3, 6, 12, 24, 48, 7 * 24, 14 * 24, 28 * 24].map { $0 * 60 }, for: length)
        return (0...length / step).map { index in
            let time = index * step
            return (time, time % day == 0 ? "\(time / day) d" : "\(time / hour) h")
        }
    }

    /// The least of some steps, in minutes, that makes few ticks; else as many times the last one as it takes.
    private static func step(of minutes: [Int64], for length: Int64) -> Int64 {
        let longest = minutes[minutes.count - 1] * minute
        return minutes.map { $0 * minute }.first { length / $0 <= mostTicks }
            ?? longest * (length / (longest * mostTicks) + 1)
    }
}
