import ArgumentParser

/// The option for the period of counts.
struct DaysOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Use the checks of the last days, 1 to 3660.", valueName: "days"),
        transform: WholeNumber.parse
    )
    var days = RecentDays.usual

    func validate() throws {
        guard (1...3_660).contains(days) else {
            throw ValidationError("--days is \(days); it must be a whole number from 1 to 3660.")
        }
    }
}

/// The default period of recent checks.
enum RecentDays {
    /// A week, so that every day of the week is in it.
    static let usual = 7
}
