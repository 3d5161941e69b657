import ArgumentParser
import PolicyStore

/// The option for the period of counts.
struct DaysOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Use the checks of the last days, 1 to 3660.", valueName: "days"),
        transform: WholeNumber.parse
    )
    var days = RecentChecks.usualDays

    func validate() throws {
        guard (1...3_660).contains(days) else {
            throw ValidationError("--days is \(days); it must be a whole number from 1 to 3660.")
        }
    }
}
