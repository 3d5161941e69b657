/// The options of a private PostgreSQL.
public struct PrivatePostgresOptions: Sendable {
    /// Settings of `postgresql.conf` by name, given to the server when this process starts it.
    public var settings: [String: String]

    /// Variables in the environment of the server, beside PATH and LC_ALL.
    public var environment: [String: String]

    /// Roles, beside those of versiongate, as which the local users may log in once they exist.
    public var additionalRoles: [String]

    /// Whether the whole state folder is deleted after the server stopped. Data then need not survive, so it is
    /// initialised without waiting for the disk.
    public var isDisposable: Bool

    /// Whether the server also listens on 127.0.0.1, on a port that the system chooses, for roles with a password.
    public var listensOnLoopback: Bool

    /// Creates options; the defaults are those of the product.
    public init(
        settings: [String: String] = [:],
        environment: [String: String] = [:],
        additionalRoles: [String] = [],
        isDisposable: Bool = false,
        listensOnLoopback: Bool = false
    ) {
        self.settings = settings
        self.environment = environment
        self.additionalRoles = additionalRoles
        self.isDisposable = isDisposable
        self.listensOnLoopback = listensOnLoopback
    }
}
