/// A whole number on the command line.
enum WholeNumber {
    /// Reads a number.
    ///
    /// - Throws: `CommandError` that says how one is written.
    static func parse<Number: FixedWidthInteger>(_ argument: String) throws -> Number {
        guard let number = Number(argument) else { throw CommandError("write a whole number") }
        return number
    }
}
