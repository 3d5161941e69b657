import UpdatePolicy

/// The question of a gateway: whether the client of a request to another server is locked out.
///
/// A gateway must not close that server because of a client that it knows too little of. So a question is answered only if
/// it is whole.
final class GateRequest: Sendable {
    /// The fields that say what the query does not.
    static let fields: [(field: StaticString, member: ClientField)] = [
        ("app-bundle", .bundle), ("app-version", .version), ("app-build", .build), ("app-platform", .platform),
        ("app-os", .os), ("app-region", .region), ("app-install", .install),
    ]

    private let query: Substring
    private let values: [(member: ClientField, values: [String])]

    /// - Parameter find: The values of the header fields of a name.
    init(_ query: Substring, values find: (StaticString) -> [String]) {
        self.query = query
        self.values = Self.fields.compactMap { field, member in
            let values = find(field)
            return values.isEmpty ? nil : (member, values)
        }
    }

    /// All that the answer depends on.
    var texts: [String] { [String(query)] + values.flatMap { ["\($0.member.name) \($0.values.count)"] + $0.values } }

    /// Reads the client.
    ///
    /// - Returns: The status of a refusal; nil where the question is not whole.
    func read(into client: inout Client) -> Status? {
        let query = LenientQuery(query)
        guard query.isWhole else { return nil }
        var refusal = Status.forbidden
        var named: Set<String> = []
        do throws(ClientError) {
            for (name, value) in query.members where !value.isEmpty && name != ClientField.manual.name {
                if name == "deny" {
                    if value == "426" { refusal = .upgradeRequired }
                    continue
                }
                try client.set(UTF8Text(name), to: .text(UTF8Text(value)))
                named.insert(name)
            }
            for (member, values) in values where !named.contains(member.name) {
                guard values.count == 1 else { return nil }
                try client.set(member, to: .text(UTF8Text(values[0])))
            }
            try client.validate()
        } catch {
            return nil
        }
        guard client.version != nil, client.buildText == nil || client.build != nil,
            client.osText == nil || client.os != nil
        else { return nil }
        return refusal
    }
}
