import UpdatePolicy

/// A name and a value on the command line: `channel=beta`, `ios=https://...`.
struct NamedValue: Sendable {
    /// What stands before the first equals sign; never empty.
    let name: String
    /// What stands after it.
    let value: String

    private init?(_ argument: String) {
        let halves = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty else { return nil }
        name = String(halves[0])
        value = String(halves[1])
    }

    /// Reads a member of a check.
    static func member(_ argument: String) throws -> NamedValue {
        guard let value = NamedValue(argument) else {
            throw CommandError("write the name of a member, \"=\" and its value: version=1.1")
        }
        if argument.firstMatch(of: /, ?[a-z]+=/) != nil {
            let each = argument.split { ", ".contains($0) }.map { String($0).shellWord }
            throw CommandError("several members in one; write each by itself: \(each.joined(separator: " "))")
        }
        return value
    }

    /// Reads a value of an attribute.
    static func attribute(_ argument: String) throws -> NamedValue {
        guard let value = NamedValue(argument) else {
            throw CommandError("write the name of the attribute, \"=\" and a value: channel=beta")
        }
        func refuse(_ fault: String, _ meant: [String]) -> CommandError {
            CommandError("\(fault); write \(meant.map { "--attribute \($0.shellWord)" }.joined(separator: " "))")
        }
        if let sign = value.name.last, "!<>~^".contains(sign) {
            throw CommandError(
                "an attribute is compared with its values alone, and has no \(sign)=; write channel=beta"
            )
        }
        let text = value.value
        // Apple names its devices so: iPhone14,3.
        let items = text.split { ",|; []".contains($0) }
        if items.count > 1, text.contains(where: { ",|;".contains($0) }), text.wholeMatch(of: /[A-Za-z]+\d+,\d+/) == nil
        {
            throw refuse("several values in one", items.map { "\(value.name)=\($0)" })
        }
        let plain = text.replacing(/^[\ =]+|\ +$/, with: "").replacing(/^(['"])(.*)\1$/) { $0.2 }
        if plain != text, !plain.isEmpty {
            throw refuse("the value would be \"\(text)\", with all that is in it", ["\(value.name)=\(plain)"])
        }
        return value
    }

    /// Reads the link of a store.
    static func storeLink(_ argument: String) throws -> NamedValue {
        guard let value = NamedValue(argument), !value.name.contains("://") else {
            throw CommandError("write the platform, \"=\" and the link: ios=https://apps.apple.com/app/id123456789")
        }
        let platforms = value.name.split { ", ".contains($0) }
        if value.name.contains(","), !platforms.isEmpty {
            let each = platforms.map { "--store-link \("\($0)=\(value.value)".shellWord)" }
            throw CommandError("several platforms in one; write \(each.joined(separator: " "))")
        }
        return value
    }
}
