// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import NIOCore

/// The recorders of all event loops.
public final class RequestMetrics: Sendable {
    private let recorders: [ObjectIdentifier: RequestRecorder]

    /// Creates a recorder for each event loop of a group.
    public init(eventLoopGroup: any EventLoopGroup) {
        var recorders: [ObjectIdentifier: RequestRecorder] = [:]
        for eventLoop in eventLoopGroup.makeIterator() { recorders[ObjectIdentifier(eventLoop)] = RequestRecorder() }
        self.recorders = recorders
    }

    /// The recorder of an event loop; nil for one that is not of the group.
    func recorder(of eventLoop: any EventLoop) -> RequestRecorder? {
        recorders[ObjectIdentifier(eventLoop)]
    }

    /// What all event loops counted so far.
    var histograms: [RequestKind: DurationHistogram] {
        var all: [RequestKind: DurationHistogram] = [:]
        for recorder in recorders.values {
            for (kind, histogram) in recorder.histograms { all[kind, default: DurationHistogram()].add(histogram) }
        }
        return all
    }
}
