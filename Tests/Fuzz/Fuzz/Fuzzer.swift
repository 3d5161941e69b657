import Foundation

/// A reader of untrusted bytes, and what it must always do.
@MainActor
protocol FuzzedReader {
    /// What script/fuzz calls it.
    var name: String { get }
    /// What it usually reads. It is the first input, and what others may cost depends on what it costs.
    var usualInput: [UInt8] { get }

    /// Reads an input, whether it is accepted or refused.
    ///
    /// - Throws: What an input must never lead to.
    func read(_ input: [UInt8]) throws
}

/// Something that a reader must never do.
struct ReaderFault: Error {
    let message: String
}

/// Gives a reader the inputs of libFuzzer, and ends the process where it does what it must not.
@MainActor
final class Fuzzer {
    /// The fuzzer of this process.
    static var shared: Fuzzer?

    private let reader: any FuzzedReader
    private let allowance: CostAllowance

    /// Finds out what the usual input costs.
    init(_ reader: any FuzzedReader) {
        self.reader = reader
        allowance = CostAllowance(usualInput: reader.usualInput) { try? reader.read(reader.usualInput) }
    }

    /// Reads an input.
    func read(_ input: [UInt8]) {
        do {
            let cost = try CostAllowance.measure { try reader.read(input) }
            guard cost > allowance.nanoseconds(for: input.count) else { return }
            // Others run on this machine too: only what is never cheaper is too dear.
            let least = CostAllowance.least(of: 25) { try? reader.read(input) }
            guard least > allowance.nanoseconds(for: input.count) else { return }
            throw ReaderFault(
                message: "\(input.count) bytes cost \(least / 1_000) us, "
                    + "\(allowance.times(least, for: input.count)) times a usual input per byte"
            )
        } catch {
            FileHandle.standardError.write(Data("\(reader.name): \(error)\n".utf8))
            abort()
        }
    }
}
