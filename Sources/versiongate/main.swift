// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import VersionGateCommands

await VersionGate.main()
