import Foundation

/// Why a check has failed.
struct CheckFault: LocalizedError {
    let errorDescription: String?

    init(_ words: String) {
        errorDescription = words
    }

    static let tooLong = CheckFault("the answer is longer than 1 MiB")
    static let tooLate = CheckFault("no answer within 2 seconds")
}
