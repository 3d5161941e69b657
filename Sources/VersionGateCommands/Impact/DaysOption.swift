// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser

/// The option that says how far back counts are looked at.
struct DaysOption: ParsableArguments {
    @Option(help: ArgumentHelp("Look at the checks of so many days, 1 to 3660.", valueName: "days"))
    var days = RecentDays.usual

    func validate() throws {
        guard (1...3_660).contains(days) else {
            throw ValidationError("--days is \(days); it must be a whole number from 1 to 3660.")
        }
    }
}
