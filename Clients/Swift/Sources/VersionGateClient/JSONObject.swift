/// The members of an object. One that is null is not there.
struct JSONObject {
    let members: [String: JSONValue]

    /// A member is missing, or cannot be read.
    struct Fault: Error {}

    /// A member as `read` reads it; nil if it is not there. Throws if it has another type.
    func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(Fault) -> Value? {
        guard let member = members[name] else { return nil }
        if case .null = member { return nil }
        guard let value = read(member) else { throw Fault() }
        return value
    }

    /// A member that must be there.
    func required<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(Fault) -> Value {
        guard let value = try optional(name, read) else { throw Fault() }
        return value
    }
}
