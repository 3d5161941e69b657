import Foundation
import Postgres
import Reports
import TestDatabase
import TestSystem
import Testing

@testable import PolicyStore
@testable import UpdatePolicy
@testable import VersionGateCommands

@Suite("Times")
struct TimeArgumentTests {
    /// A binary in a zone with summer time, described so that it needs no files.
    private var berlin: BuiltBinary {
        BuiltBinary(environment: BuiltBinary(.current).variables.merging(["TZ": BuiltBinary.centralEurope]) { $1 })
    }

    @Test(
        "A time without an offset is one of this machine, and is said with its offset",
        .migratedDatabase,
        arguments: [
            ("2027-01-10 02:00", "--at: 2027-01-10T02:00:00+01:00, in "),
            ("2027-07-01T21:30:15", "--at: 2027-07-01T21:30:15+02:00, in "),
            ("2020-02-29 12:00", "--at: 2020-02-29T12:00:00+01:00, "), ("tomorrow 9:00", "T09:00:00+0"),
            ("today", "T00:00:00+0"), ("Yesterday 23:59", "T23:59:00+0"),
            ("December 24 2027 18:00", "--at: 2027-12-24T18:00:00+01:00"),
            // An hour that clocks skip, and one that they show twice.
            ("2027-03-28 02:30", "--at: 2027-03-28T03:30:00+02:00"),
            ("2026-10-25 02:30", "--at: 2026-10-25T02:30:00+01:00"),
        ]
    )
    func isLocal(_ written: String, _ understood: String) async throws {
        let result = try await berlin.run(arguments: ["check", "--at", written, "bundle=a", "--format", "json"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains(understood), "\(result.errors)")
        #expect(result.output == "{\"messages\":[]}\n")
    }

    @Test("PostgreSQL takes the time zone of each machine", .migratedDatabase)
    func zones() async throws {
        let connection = try await TestDatabase.current.connect()
        for (zone, offset) in [(nil, nil), ("", 0), (":Asia/Tokyo", 9), ("<+0330>-3:30", 3.5)] as [(String?, Double?)] {
            let name = TimeText.zone(zone.map { ["TZ": $0] } ?? [:])
            let found = try await connection.query(
                "SELECT (extract(timezone FROM '2026-01-01Z'::timestamptz) / 3600.0)::text FROM set_config('TimeZone', $1, false)",
                [name]
            ).value(as: String.self)
            #expect(offset == nil || Double(found) == offset, "\(name)")
        }
    }

    @Test("A time with an offset or from now is not said again", .migratedDatabase)
    func isExact() async throws {
        try await berlin.run("app add a")
        for time in [
            "2027-01-10T02:00:00Z", "2027-01-10 02:00+05:30", "+2h", "-30m", "+2days", "+1 day 12 hours", "now",
        ] {
            let result = try await berlin.run(arguments: ["check", "--at", time, "bundle=a"])
            #expect(result.status == 0 && !result.errors.contains("--at:"), "\(time): \(result.errors)")
        }
    }

    /// More are in `Tests/Cases/inputs`.
    @Test(
        "What is no time is refused with how one is written",
        arguments: [
            "22", "18:00 UTC", "", "+1h30", "2 hours", "-5", "+-2h", "26-12-24", "20261224T180000Z",
            "1.1.27 9:00",
        ]
    )
    func isNoTime(_ written: String) throws {
        let error = try #require(throws: CommandError.self) { try TimeArgument.parse(written) }
        #expect("\(error)".contains("write a day and a time"), "\(written): \(error)")
    }

    @Test("An hour without a day is refused with the day to write", arguments: ["22:00", "9am", "9:30 PM"])
    func hasNoDay(_ written: String) throws {
        let error = try #require(throws: CommandError.self) { try TimeArgument.parse(written) }
        #expect("\(error)" == "write its day: 'today \(written)' or 'tomorrow \(written)'")
        guard case .local = try TimeArgument.parse("tomorrow \(written)") else {
            Issue.record("tomorrow \(written)")
            return
        }
    }
}

/// The clocks of the machine, the database and its servers.
@Suite("Clocks", .migratedDatabase)
struct ClockTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    /// Gives `body` an environment in which a program's clock is off by some seconds, and that of the database is not.
    private func withClock(offBy seconds: Int, _ body: ([String: String]) async throws -> Void) async throws {
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <time.h>
            int clock_gettime(clockid_t id, struct timespec *time) {
                int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
                int result = real(id, time);
                if (id == CLOCK_REALTIME) time->tv_sec += \(seconds);
                return result;
            }
            """
        try await StateFolder.with { folder in
            let library = folder.path + "/clock.so"
            let result = try await BuiltBinary(environment: [:]).shell(
                "printf %s \(source.shellWord) | clang -shared -fPIC -x c - -o '\(library)' -ldl"
            )
            try #require(result.status == 0, "\(result.errors)")
            try await body(["LD_PRELOAD": library])
        }
    }

    @Test("The clock of the database decides what a time means, and a command says that this machine's differs")
    func databaseDecides() async throws {
        try await withClock(offBy: -10_800) { environment in
            let late = BuiltBinary(environment: versiongate.variables.merging(environment) { $1 })
            let added = try await late.run("rule add k --title T --text X --starts-at +1h --ends-at +2h")
            #expect(added.status == 0, "\(added.errors)")
            let warning = "Warning: the clock of this machine is 3 h behind that of the database, where it is "
            #expect(added.errors.ranges(of: warning).count == 1, "\(added.errors)")
            let hours = try await TestDatabase.current.psql(
                "SELECT round(extract(epoch FROM ends_at - now()) / 3600) FROM rules"
            )
            #expect(hours.output == "2\n")
            let status = try await late.run("status")
            #expect(status.output.contains(warning), "\(status.output)")
            #expect(try await late.run("rule edit k --title U").errors.isEmpty)

        }
    }

    @Test("The clock of a server that differs is said by commands that take times, by status and by the metrics")
    func serverDiffers() async throws {
        try await withClock(offBy: 10_800) { environment in
            let url = TestDatabase.current.url(user: "versiongate_server")
            let server = BuiltBinary(environment: environment.merging(["DATABASE_URL": url]) { $1 })
            let ending = try await ServingBinary.run(server) { serving in
                try await Poll.until("the metric") {
                    let offset = try await serving.metric("versiongate_database_clock_offset_seconds")
                    return offset.flatMap { Double($0) }.map { (-10_810 ... -10_790).contains($0) } ?? false
                }
                let fault = "is 3 h ahead of that of the database; what begins or ends does so by that of the server"
                try await Poll.until("the status") { try await versiongate.run("status").output.contains(fault) }
                let added = try await versiongate.run("rule add k --title T --text X --ends-at +2h")
                #expect(added.errors.contains("Warning: the clock of the server ") && added.errors.contains(fault))
            }
            #expect(ending.errors.contains("The clocks of this machine and the database differ"), "\(ending.errors)")
        }
    }

    @Test("Clocks that agree are not worth a word, and the time that a question takes is no difference")
    func agree() async throws {
        let connection = try await TestDatabase.current.connect()
        let clock = try await connection.withSession { session in
            try DatabaseClock(session) { .now() }
        }
        #expect(!clock.isOff && Report.clockFaults(clock, []).isEmpty)
        let time = Timestamp(secondsSince1970: 100)
        func offset(_ asked: Int64, _ answered: Int64) -> Double {
            DatabaseClock(
                now: time, asked: Timestamp(secondsSince1970: asked), answered: Timestamp(secondsSince1970: answered)
            ).offset
        }
        #expect(offset(95, 105) == 0)
        #expect(offset(80, 90) == 10)
        #expect(offset(110, 120) == -10)
    }
}
