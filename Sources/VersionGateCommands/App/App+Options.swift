import UpdatePolicy

extension App: EditableRecord {
    static let options: [ColumnOption<App>] = [
        ColumnOption(\.name, "The app's name, which texts can use as {app}"),
        ColumnOption(\.storeID, "The app's number in the App Store, by which look-ups ask", parse: numberInStore),
        ColumnOption(\.seller, "The name of the seller, as the store has it"),
        ColumnOption(\.note, "A note for the people who edit; never sent"),
    ]

    static let clearedTables = [PolicyTable.storeLinks]

    /// Reads the digits of a number in the App Store, also behind the `id` that addresses have.
    private static let numberInStore: @Sendable (String) throws -> ColumnWord = { argument in
        guard let number = Int64(argument.hasPrefix("id") ? argument.dropFirst(2) : argument[...]) else {
            throw CommandError("write the digits behind \"id\" in the address of the app in the App Store: 1234567890")
        }
        return .integer(number)
    }
}
