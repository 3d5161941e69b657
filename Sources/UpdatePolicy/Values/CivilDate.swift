/// A day in the proleptic Gregorian calendar.
///
/// The conversions count days in eras of 400 years that begin on 1 March, so that a leap day is the last of its year.
package struct CivilDate: Equatable {
    /// The year, astronomically counted: 0 is 1 BC.
    package let year: Int64
    package let month: Int64
    /// The day of the month, from 1.
    package let day: Int64

    private static let daysPerEra: Int64 = 146_097
    private static let daysFromEraToEpoch: Int64 = 719_468

    /// The date with this year, month and day; `nil` where the calendar has no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[Int(month) - 1] else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    package init(daysSince1970: Int64) {
        let days = daysSince1970 + Self.daysFromEraToEpoch
        let era = (days >= 0 ? days : days - Self.daysPerEra + 1) / Self.daysPerEra
        let dayOfEra = days - era * Self.daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970-01-01 to this date, negative before it.
    package var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPerEra + dayOfEra - Self.daysFromEraToEpoch
    }
}

extension Int64 {
    /// The greatest number whose product with a positive divisor is not above this number: -1 for -1 by 7.
    package func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
