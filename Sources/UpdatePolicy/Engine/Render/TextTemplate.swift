enum TextTemplate {
    static func names(_ placeholder: StaticString, in text: String) -> Bool {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return false }
        return text.withBytes { bytes in
            bytes.indices.contains { bytes[$0] == UInt8(ascii: "{") && startsWith(placeholder, bytes, $0) }
        }
    }

    /// The text with its placeholders filled in, in one pass: what is filled in is not read again.
    ///
    /// A placeholder without a value stays as it is, like all other braces.
    static func filled(_ text: String, _ values: KeyValuePairs<StaticString, String?>) -> String {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
        let filled = text.withBytes { bytes in
            var result: [UInt8] = []
            var position = 0
            while position < bytes.count {
                if bytes[position] == UInt8(ascii: "{"),
                    let (placeholder, value) = values.first(where: { startsWith($0.key, bytes, position) }), let value
                {
                    result += value.utf8
                    position += placeholder.utf8CodeUnitCount
                } else {
                    result.append(bytes[position])
                    position += 1
                }
            }
            return result
        }
        return String(decoding: filled, as: UTF8.self)
    }

    private static func startsWith(
        _ placeholder: StaticString,
        _ bytes: UnsafeRawBufferPointer,
        _ position: Int
    ) -> Bool {
        let length = placeholder.utf8CodeUnitCount
        guard position + length <= bytes.count else { return false }
        return (0..<length).allSatisfy { bytes[position + $0] == placeholder.utf8Start[$0] }
    }
}

extension Rule {
    /// A title or a text of the rule with its placeholders filled in, as clients of an app get it.
    ///
    /// `{target}` is the target as written, `{date}` the day of the rule's end in UTC.
    ///
    /// - Parameter app: What stands for `{app}`: the name of the app, else its bundle.
    package func filled(_ text: String, app: String) -> String {
        TextTemplate.filled(text, ["{app}": app, "{target}": target, "{date}": endsAt?.day])
    }
}
