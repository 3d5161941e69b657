import Foundation
import Systemd
import TestSystem
import Testing

@Suite("Systemd")
struct SystemdTests {
    @Test("The service manager is nobody where no socket is named")
    func isNobody() throws {
        #expect(try SystemdNotifier(environment: [:], processID: 1) == nil)
        #expect(try SystemdNotifier(environment: ["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "5"], processID: 1) == nil)
    }

    @Test(
        "The service manager is told through a socket at a path, and through one with an abstract name",
        arguments: [true, false]
    )
    func isTold(isAbstract: Bool) async throws {
        let name = "versiongate-test-\(UInt64.random(in: 0 ... .max))"
        let receiver = try DatagramSocket(isAbstract ? .abstract(name) : .path(NSTemporaryDirectory() + "/" + name))
        let manager = try #require(try SystemdNotifier(environment: ["NOTIFY_SOCKET": receiver.name], processID: 1))
        try manager.notify([.ready, .status("public http://127.0.0.1:8080\nREADY=0")])
        try manager.notify([.watchdog])
        try manager.notify([.stopping])
        var messages = receiver.messages.makeAsyncIterator()
        #expect(await messages.next() == "READY=1\nSTATUS=public http://127.0.0.1:8080 READY=0")
        #expect(await messages.next() == "WATCHDOG=1")
        #expect(await messages.next() == "STOPPING=1")
        receiver.close()
        #expect(await messages.next() == nil)
    }

    @Test(
        "The service manager refuses an address that is none",
        arguments: ["relative", "vsock:2:1", "/" + String(repeating: "x", count: 200)]
    )
    func refusesAddresses(address: String) {
        #expect(throws: SystemdError.self) {
            try SystemdNotifier(environment: ["NOTIFY_SOCKET": address], processID: 1)
        }
    }

    @Test("The service manager that is gone is an error that names it")
    func isGone() throws {
        let manager = try #require(try SystemdNotifier(environment: ["NOTIFY_SOCKET": "/nowhere/notify"], processID: 1))
        let error = #expect(throws: SystemdError.self) { try manager.notify([.ready]) }
        #expect(error?.description.contains("/nowhere/notify") == true)
    }

    /// What the environment says about the watchdog, and how long it waits.
    static let watchdogs: [(environment: [String: String], interval: Duration?)] = [
        ([:], nil),
        (["WATCHDOG_USEC": "30000000"], .seconds(30)),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"], .seconds(30)),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"], nil),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "x"], nil),
        (["WATCHDOG_USEC": "0"], nil),
        (["WATCHDOG_USEC": "-1"], nil),
        (["WATCHDOG_USEC": "soon"], nil),
    ]

    @Test("The service manager asks for signs of life only of the process that it means", arguments: watchdogs)
    func watchesTheProcess(environment: [String: String], interval: Duration?) throws {
        let environment = environment.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }
        #expect(try SystemdNotifier(environment: environment, processID: 7)?.watchdogInterval == interval)
    }

    @Test("The service manager hands over one socket or none, and only to the process that it means")
    func handsOverASocket() throws {
        #expect(try InheritedSocket(environment: [:], processID: 7) == nil)
        #expect(try InheritedSocket(environment: ["LISTEN_FDS": "1"], processID: 7) == nil)
        #expect(try InheritedSocket(environment: ["LISTEN_FDS": "1", "LISTEN_PID": "8"], processID: 7) == nil)
        #expect(try InheritedSocket(environment: ["LISTEN_FDS": "0", "LISTEN_PID": "7"], processID: 7) == nil)
        let error = #expect(throws: SystemdError.self) {
            try InheritedSocket(environment: ["LISTEN_FDS": "2", "LISTEN_PID": "7"], processID: 7)
        }
        #expect(error?.description.contains("LISTEN_FDS is \"2\"") == true)
    }
}
