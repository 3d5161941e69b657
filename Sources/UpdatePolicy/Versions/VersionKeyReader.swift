struct VersionKeyReader {
    let key: VersionKey
    private(set) var position = 0

    /// Whether a byte that is not zero follows.
    var hasMore: Bool { key[position] != 0 }

    /// Whether the byte behind the numbers, which must have been read, is that of a release.
    var isAtEndOfRelease: Bool { key[position] == 1 }

    mutating func numbers() -> [String] {
        var numbers: [String] = []
        while key[position] >= 2 {
            numbers.append(digits(count: Int(key[position]) - 2))
        }
        return numbers
    }

    /// Reads the byte behind the numbers and the identifiers of a pre-release; none for a release.
    mutating func identifiers() -> [String] {
        position += 1
        guard key[position - 1] == 0 else { return [] }
        var identifiers: [String] = []
        while true {
            switch key[position] {
            case 1:
                position += 1
                identifiers.append(digits(count: Int(key[position])))
            case 2:
                position += 1
                var characters: [UInt8] = []
                while key[position] != 0 {
                    characters.append(key[position])
                    position += 1
                }
                position += 1
                identifiers.append(String(decoding: characters, as: UTF8.self))
            default:
                return identifiers
            }
        }
    }

    private mutating func digits(count: Int) -> String {
        let first = position + 1
        position = first + count
        return count == 0 ? "0" : String(decoding: (first..<position).map { key[$0] }, as: UTF8.self)
    }
}

extension VersionKey {
    /// The key of the first version with the same numbers, their pre-release 0.
    var family: VersionKey {
        var reader = VersionKeyReader(key: self)
        var builder = VersionKeyBuilder()
        for number in reader.numbers() { builder.appendNumber(Array(number.utf8)) }
        return builder.familyKey
    }
}
