import UpdatePolicy

/// How many checks came from one kind of client in a period.
struct ClientCount: Sendable {
    let bundle: String
    let platform: String?
    let version: String?
    let build: String?
    let region: String?
    let os: String?
    let checks: Int64

    /// The client that such a check describes.
    ///
    /// - Throws: `ClientError`; never for what a server has counted.
    func weighted() throws -> WeightedClient {
        var client = Client()
        for (name, value) in [
            ("bundle", bundle), ("platform", platform), ("version", version), ("build", build), ("region", region),
            ("os", os),
        ] {
            if let value { try client.set(UTF8Text(name), to: .text(UTF8Text(value))) }
        }
        return WeightedClient(client, checks: checks)
    }
}
