// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The search for what is offered to one client at one time, under the soak of one rule after the other.
///
/// Under a soak, a lower release is offered only if it has been live for longer than all greater ones that the client can get.
/// These are kept as they are found, so all rules of a check together look at each release once.
struct OfferSearch {
    private let judgement: ReleaseList.Judgement
    /// The places of releases that the client can get, each lower and live for longer than the one before.
    private var found = IndexList()
    /// The place of the first release that was not looked at.
    private var next = 0

    init(_ judgement: ReleaseList.Judgement) {
        self.judgement = judgement
    }

    /// The place of the greatest release that the client can get and that has been live for `soak`.
    ///
    /// - Parameter list: The releases for the client's platform, the same in each call.
    mutating func offer(
        among list: ReleaseList,
        to client: borrowing Client,
        at time: Int64,
        soak: Int64
    ) -> Int? {
        let (latest, overflow) = time.subtractingReportingOverflow(soak)
        if overflow { return nil }
        var low = 0
        var high = found.count
        while low < high {
            let middle = (low &+ high) >> 1
            if list.releases[Int(found[middle])].liveAt <= latest { high = middle } else { low = middle &+ 1 }
        }
        if low < found.count { return Int(found[low]) }
        while next < list.releases.count {
            let place = next
            next &+= 1
            let liveAt = list.releases[place].liveAt
            let isOlder = found.count == 0 || liveAt < list.releases[Int(found[found.count &- 1])].liveAt
            guard isOlder, list.releases[place].isLive(at: time),
                list.isInstallable(place, by: client, judgement)
            else { continue }
            found.append(UInt32(truncatingIfNeeded: place))
            if liveAt <= latest { return place }
        }
        return nil
    }
}
