import Foundation
import VersionGateCommands

/// The executable: everything else is in libraries, so that tests need no executable.
@main
struct Main {
    static func main() async {
        StandardStreams.prepare()
        exit(await VersionGate.run())
    }
}
