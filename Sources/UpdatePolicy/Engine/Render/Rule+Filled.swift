extension Rule {
    /// A title or a text of the rule with its placeholders filled in, as clients of an app get it: in one pass, so what is
    /// filled in is not read again.
    ///
    /// `{target}` is the target as written, `{date}` the day of the rule's end in UTC. A placeholder without a value stays as
    /// it is, like all other braces.
    ///
    /// - Parameter app: What stands for `{app}`: the name of the app, else its bundle.
    package func filled(_ text: String, app: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        let values: KeyValuePairs<String, String?> = ["{app}": app, "{target}": target, "{date}": endsAt?.day]
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "{"),
                let (placeholder, value) = values.first(where: { bytes[position...].starts(with: $0.key.utf8) }),
                let value
            {
                result += value.utf8
                position += placeholder.utf8.count
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
