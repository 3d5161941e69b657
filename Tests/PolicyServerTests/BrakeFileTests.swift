import Foundation
import Logging
import Testing

@testable import PolicyServer

@Suite("Brake file")
struct BrakeFileTests {
    private let place = TestFolder()
    private let folder: String

    init() throws { folder = try place.make() }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test("Whatever is at the path is the brake, also a folder, a pipe, and a link that leads nowhere")
    func whateverIsThere() throws {
        let path = folder + "/brake"
        let manager = FileManager.default
        let ways: [(what: String, why: String, make: () throws -> Void)] = [
            ("a file", "why", { try self.write(" why\n", to: path) }),
            ("an empty file", "", { try self.write("", to: path) }),
            ("a folder", "", { try manager.createDirectory(atPath: path, withIntermediateDirectories: false) }),
            ("a pipe", "", { #expect(mkfifo(path, 0o600) == 0) }),
            (
                "a link", "why",
                {
                    try self.write("why", to: self.folder + "/mounted")
                    try manager.createSymbolicLink(atPath: path, withDestinationPath: "mounted")
                }
            ),
            (
                "a link to nothing", "",
                { try manager.createSymbolicLink(atPath: path, withDestinationPath: "gone/brake") }
            ),
            ("a link to itself", "", { try manager.createSymbolicLink(atPath: path, withDestinationPath: "brake") }),
        ]
        for file in [BrakeFile(path: path), BrakeFile(stateDirectory: folder)] {
            for (what, why, make) in ways {
                #expect(file.state == .absent, "before \(what)")
                try make()
                #expect(file.state == .present(why: why), "\(what)")
                #expect(remove(path) == 0, "\(what)")
            }
        }
    }

    @Test("A named brake whose folder goes away stays as it is; without a folder of the state the brake is off")
    func folderGoesAway() throws {
        let volume = folder + "/volume"
        #expect(BrakeFile(stateDirectory: volume).state == .absent)
        let file = BrakeFile(path: volume + "/brake")
        let fault = "there is no folder \(volume)"
        #expect(file.state == .unknown(fault: fault))
        try write("", to: volume)
        #expect(file.state == .unknown(fault: fault))
        try FileManager.default.removeItem(atPath: volume)

        let policy = LivePolicy()
        let service = BrakeWatch(
            file: file, policy: policy, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        /// The reason of the brake, or "off", and whether the fault is noted.
        func state(after edit: () throws -> Void) rethrows -> String {
            try edit()
            service.look()
            let isNoted = policy.status.brakeFault?.contains(fault) == true
            return (policy.status.brake?.why ?? "off") + (isNoted ? ", unknown" : "")
        }
        let make = { try FileManager.default.createDirectory(atPath: volume, withIntermediateDirectories: false) }
        #expect(state(after: {}) == "off, unknown")
        #expect(try state(after: make) == "off")
        #expect(try state(after: { try write("incident 42", to: file.path) }) == "incident 42")
        #expect(try state(after: { try FileManager.default.removeItem(atPath: volume) }) == "incident 42, unknown")
        #expect(try state(after: make) == "off")
    }
}
