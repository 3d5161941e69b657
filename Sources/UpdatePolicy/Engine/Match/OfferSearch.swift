/// The search for what is offered to one client at one time, under the soak of one rule after the other.
///
/// Under a soak, a lower release is offered only if it has been live for longer than all greater ones that the client can get.
/// These are kept as they are found, so all rules of a check together look at each release once.
struct OfferSearch {
    private let missingValues: ReleaseList.MissingValues
    /// The indexes of releases that the client can get, each lower and live for longer than the one before.
    private var found = IndexList()
    private var next = 0

    init(_ missingValues: ReleaseList.MissingValues) {
        self.missingValues = missingValues
    }

    /// The index of the greatest release that the client can get and that has been live for `soak`.
    ///
    /// - Parameter list: The releases for the client's platform, the same in each call.
    mutating func offer(among list: ReleaseList, to client: borrowing Client, at time: Int64, soak: Int64) -> Int? {
        let (latest, overflow) = time.subtractingReportingOverflow(soak)
        if overflow { return nil }
        let first = (0..<found.count).partitioningIndex { list.releases[Int(found[$0])].liveAt <= latest }
        if first < found.count { return Int(found[first]) }
        while next < list.releases.count {
            let index = next
            next &+= 1
            let liveAt = list.releases[index].liveAt
            let isOlder = found.count == 0 || liveAt < list.releases[Int(found[found.count &- 1])].liveAt
            guard isOlder, list.releases[index].isLive(at: time),
                list.isInstallable(index, by: client, missingValues)
            else { continue }
            found.append(UInt32(truncatingIfNeeded: index))
            if liveAt <= latest { return index }
        }
        return nil
    }
}
