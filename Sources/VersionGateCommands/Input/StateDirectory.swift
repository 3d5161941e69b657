import Foundation

/// The folder of the private PostgreSQL.
struct StateDirectory {
    /// Its absolute path.
    let path: String

    /// Finds the folder: the option, the environment, else the default for the user.
    init(option: String?, environment: [String: String], isRoot: Bool = getuid() == 0) throws {
        let chosen: String
        if let named = option ?? environment["VERSIONGATE_STATE_DIR"], !named.isEmpty {
            chosen = named
        } else if isRoot {
            chosen = "/var/lib/versiongate"
        } else if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            chosen = state + "/versiongate"
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            chosen = home + "/.local/state/versiongate"
        } else {
            throw CommandError(
                "there is no place for the private PostgreSQL because HOME is not set; "
                    + "name a folder with --state-dir, or a database with --database-url"
            )
        }
        path = URL(fileURLWithPath: chosen).standardizedFileURL.path
    }
}
