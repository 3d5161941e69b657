import CLibFuzzer
import Foundation

// Run by script/fuzz:
//     Fuzz --list                           the readers there are
//     Fuzz READER FOLDER [OPTION...]        fuzzes a reader; the options are libFuzzer's, the folder collects its inputs

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("Fuzz: \(message)\n".utf8))
    exit(2)
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "--list":
    for reader in FuzzedReaders.all { print(reader.name) }
case let name?:
    guard let reader = FuzzedReaders.all.first(where: { $0.name == name }) else {
        fail("there is no reader \"\(name)\"; --list lists them")
    }
    guard let folder = arguments.dropFirst().first else { fail("the folder is missing") }
    try Data(reader.usualInput).write(to: URL(fileURLWithPath: folder + "/usual"))
    Fuzzer.shared = Fuzzer(reader)
    let names: [String] = [CommandLine.arguments[0], folder] + arguments.dropFirst(2)
    var driverArguments: [UnsafeMutablePointer<CChar>?] = names.map { strdup($0) }
    driverArguments.append(nil)
    var count = Int32(driverArguments.count - 1)
    let status = driverArguments.withUnsafeMutableBufferPointer { arguments in
        var start = arguments.baseAddress
        return LLVMFuzzerRunDriver(&count, &start) { data, size in
            MainActor.assumeIsolated {
                Fuzzer.shared?.read(Array(UnsafeBufferPointer(start: data, count: size)))
            }
            return 0
        }
    }
    exit(status)
case nil:
    fail("name a reader; --list lists them")
}
