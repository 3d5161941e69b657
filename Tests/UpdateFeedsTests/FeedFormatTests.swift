// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdateFeeds

@Suite("Feed formats")
struct FeedFormatTests {
    @Test("A format is known by the name of its document")
    func names() {
        #expect(FeedFormat(rawValue: "iversion.plist") == .iVersion)
    }
}
