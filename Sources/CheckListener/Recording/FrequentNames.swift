/// The names that came most often, of however many there were, in a bounded place.
///
/// The space-saving of Metwally, Agrawal and El Abbadi: a new name takes the place of the one that came least, with its
/// count, so a count is too high by at most that much, and a name that came more often than that is there.
package struct FrequentNames: Sendable {
    /// A name and how often it came.
    package struct Entry: Sendable, Equatable {
        package let name: String
        /// How often, at most.
        package var count: Int
        /// How much of that may be other names.
        package var error: Int
    }

    /// The most names that are kept.
    static let capacity = 100
    /// The most bytes of a name; a longer one is not kept.
    static let longestName = 255

    private var entries: [Entry] = []
    private var places: [String: Int] = [:]

    /// The names, those that came most often first.
    package var sorted: [Entry] {
        entries.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    /// Notes that a name came, `weight` times.
    mutating func note(_ name: String, weight: Int = 1) {
        add(Entry(name: name, count: weight, error: 0))
    }

    mutating func add(_ other: FrequentNames) {
        for entry in other.sorted { add(entry) }
    }

    private mutating func add(_ new: Entry) {
        guard new.name.utf8.count <= Self.longestName else { return }
        if let place = places[new.name] {
            entries[place].count += new.count
            entries[place].error += new.error
        } else if entries.count < Self.capacity {
            places[new.name] = entries.count
            entries.append(new)
        } else if let least = entries.indices.min(by: { entries[$0].count < entries[$1].count }) {
            let old = entries[least]
            places[old.name] = nil
            places[new.name] = least
            entries[least] = Entry(name: new.name, count: old.count + new.count, error: old.count + new.error)
        }
    }
}

/// The names of what nobody configured, for a page: never an install id, an address or the value of an attribute.
package struct NamesOfUnknowns: Sendable {
    /// Bundles of apps that the policy does not list.
    package var unlistedBundles = FrequentNames()
    /// Languages that no text of a sent message was in.
    package var textlessLanguages = FrequentNames()

    /// Of so many answers with messages, the language of one is looked at.
    static let sampling = 16
}
