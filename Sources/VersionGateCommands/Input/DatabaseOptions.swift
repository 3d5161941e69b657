import ArgumentParser

/// The options that say where the policy is.
struct DatabaseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The PostgreSQL database, as a URL or as keywords and values. (environment: DATABASE_URL)",
            discussion:
                "Prefer the environment for an address with a password: others can read arguments until they are wiped.",
            valueName: "url"
        )
    )
    var databaseURL: String?

    @Option(
        help: ArgumentHelp(
            "The database by its name in $XDG_CONFIG_HOME/versiongate/config.yaml. "
                + "(environment: VERSIONGATE_CONTEXT)",
            valueName: "name"
        ),
        completion: .contexts
    )
    var context: String?

    @Option(
        help: ArgumentHelp(
            "The folder of the private PostgreSQL, which is used when no database is named. "
                + "(environment: VERSIONGATE_STATE_DIR)",
            valueName: "path"
        )
    )
    var stateDir: String?

    @Flag(
        name: .customLong("private"),
        help: "Use the private PostgreSQL even if DATABASE_URL is set, and make it if there is none."
    )
    var usesPrivate = false

    func validate() throws {
        if let databaseURL {
            guard !databaseURL.isEmpty else {
                throw ValidationError(
                    "--database-url is empty; give the address of the database, or leave the option out."
                )
            }
            if usesPrivate { throw ValidationError("--private and --database-url name two databases; leave one out.") }
        }
        if let context {
            guard !context.isEmpty else {
                throw ValidationError("--context is empty; give the name of a context, or leave the option out.")
            }
            if databaseURL != nil {
                throw ValidationError("--context and --database-url name two databases; leave one out.")
            }
            if usesPrivate { throw ValidationError("--context and --private name two databases; leave one out.") }
        }
    }
}
