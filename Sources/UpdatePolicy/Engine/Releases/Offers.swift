/// The search for what is offered to clients at one time, under the soak of one rule after the other.
///
/// Under a soak, a lower release is offered only if it has been live for longer than all greater ones that every client can
/// get. These are kept as they are found, so all rules of a check together look at each release once.
struct Offers {
    private let list: ReleaseList?
    private let asker: ReleaseAsker
    private let time: Int64
    private let missingValues: MissingValues
    /// The indexes of releases that every client can get, each lower and live for longer than the one before.
    private var certain: [Int] = []
    /// Those beside them that some client can get, the greatest first.
    private var uncertain: [Int] = []
    private var next = 0

    init(_ list: ReleaseList?, _ asker: ReleaseAsker, at time: Int64, _ missingValues: MissingValues) {
        (self.list, self.asker, self.time, self.missingValues) = (list, asker, time, missingValues)
    }

    /// The greatest release that every client can get and that has been live for `soak`: what one client is offered, and what
    /// several are offered at least.
    mutating func least(soak: Int64) -> JudgedRelease? {
        guard let list, let index = leastIndex(soak, list) else { return nil }
        return list.releases[index]
    }

    private mutating func leastIndex(_ soak: Int64, _ list: ReleaseList) -> Int? {
        let (latest, overflow) = time.subtractingReportingOverflow(soak)
        if overflow { return nil }
        let first = certain.indices.partitioningIndex { list.releases[certain[$0]].liveAt <= latest }
        if first < certain.count { return certain[first] }
        while next < list.releases.count {
            let (index, release) = (next, list.releases[next])
            next &+= 1
            let isOlder = certain.last.map { release.liveAt < list.releases[$0].liveAt } ?? true
            guard isOlder, release.isLive(at: time) else { continue }
            switch list.verdict(of: release, asker, missingValues) {
            case .unmet: continue
            case .unknown: uncertain.append(index)
            case .met:
                certain.append(index)
                if release.liveAt <= latest { return index }
            }
        }
        return nil
    }

    /// The releases that some client may be offered under a soak, the greatest first, down to the one that every client can
    /// get; and whether there is that one.
    mutating func all(soak: Int64) -> (releases: [JudgedRelease], isCertain: Bool) {
        guard let list else { return ([], false) }
        let least = leastIndex(soak, list)
        let (latest, overflow) = time.subtractingReportingOverflow(soak)
        let greater = uncertain.prefix { $0 < least ?? .max }.filter { !overflow && list.releases[$0].liveAt <= latest }
        return ((greater + [least].compactMap(\.self)).map { list.releases[$0] }, least != nil)
    }
}
