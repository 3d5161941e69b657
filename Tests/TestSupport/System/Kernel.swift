// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// What the kernel of this machine can do.
public enum Kernel {
    /// Whether it gives threads of the usual policy the time slices that they ask for: Linux 6.12 or newer.
    public static let givesTimeSlices = ProcessInfo.processInfo.isOperatingSystemAtLeast(
        OperatingSystemVersion(majorVersion: 6, minorVersion: 12, patchVersion: 0)
    )
}
