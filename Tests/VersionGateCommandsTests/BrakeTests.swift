import Foundation
import Testing

/// What takes a disk of its own; the rest is in `Tests/Cases/server/brake.case`.
@Suite("Brake")
struct BrakeTests {
    /// How to have mounts of one's own, for which the system may want root.
    private static let withMounts: String? = {
        let ways = ["unshare --mount", "unshare --map-root-user --mount", "sudo --non-interactive unshare --mount"]
        return ways.first { way in
            let words = way.split(separator: " ").map(String.init)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = words + ["true"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()

    @Test(
        "The brake can be put on and taken off where the disk is full",
        .enabled(if: withMounts != nil, "this user may not mount a small disk")
    )
    func needsNoSpace() async throws {
        let withMounts = try #require(Self.withMounts)
        try await StateFolder.with { folder in
            let result = try await BuiltBinary(environment: [:]).shell(
                """
                \(withMounts) bash -euc '
                    mount -t tmpfs -o size=16k tmpfs "$1" && cd "$1"
                    ! cat /dev/zero > fill 2> /dev/null
                    "$2" brake on --why "incident 42" --brake-file "$1/brake"
                    test -f brake && ! test -s brake
                    "$2" brake off --brake-file "$1/brake"
                    ! test -e brake && ls' bash '\(folder.path)' "$VERSIONGATE"
                """
            )
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("The disk is full, so nothing says why."), "\(result)")
            #expect(result.output.contains("The brake is off"), "\(result)")
            #expect(!result.output.contains(".new"), "\(result)")
        }
    }
}
