// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener
import Hummingbird
import NIOCore

/// A request of the management listener, with who sent it.
struct ManagementContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the client or of its proxy; nil when the connection has ended.
    let client: IPAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        client = IPAddress(source.channel.remoteAddress)
    }
}
