/// A percentage on the command line, with or without a percent sign; the database judges the number.
struct PercentArgument: Sendable {
    /// The number as it was written, without the sign.
    let number: String

    /// Reads a percentage.
    ///
    /// - Throws: `CommandError` that says how a percentage is written.
    static func parse(_ argument: String) throws -> PercentArgument {
        let number = argument.replacing(/\ ?% *$/, with: "").drop { $0 == " " }
        let allowed = number.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "-") }
        guard allowed, Double(number) != nil else { throw CommandError("write a number from 0 to 100: 25 or 25%") }
        return PercentArgument(number: String(number))
    }
}

/// A length of time on the command line; the database judges it.
enum DurationArgument {
    /// Refuses a number without a unit, also the last one, which the database would take for seconds.
    static func parse(_ argument: String) throws -> String {
        guard let number = Double(argument), number != 0 else {
            if argument.last?.isNumber == true, argument.contains(where: \.isLetter), !argument.contains(":") {
                throw CommandError(
                    "the last number has no unit; write \(argument)m for minutes, \(argument)s for seconds"
                )
            }
            return argument
        }
        throw CommandError("write its unit: '\(argument) day\(number == 1 ? "" : "s")', \(argument)h")
    }
}
