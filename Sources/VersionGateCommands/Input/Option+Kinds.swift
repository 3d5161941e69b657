import ArgumentParser

/// Options by the kind of their value, which says what it is called and how it is read.
extension Option {
    init(_ valueName: String, _ help: String) where Value == String? {
        self.init(help: ArgumentHelp("\(help)", valueName: valueName))
    }

    /// An option that is given once for each value.
    init(each name: String, _ help: String, valueName: String? = nil) where Value == [String] {
        self.init(
            wrappedValue: [], name: .customLong(name),
            help: ArgumentHelp("\(help); can be repeated.", valueName: valueName ?? name)
        )
    }

    init(time help: String) where Value == TimeArgument? {
        self.init(
            parsing: .unconditional, help: ArgumentHelp("\(help)", valueName: "time"), transform: TimeArgument.parse
        )
    }

    init(percent help: String) where Value == PercentArgument? {
        self.init(
            parsing: .unconditional, help: ArgumentHelp("\(help)", valueName: "percent"),
            transform: PercentArgument.parse
        )
    }

    init(duration help: String) where Value == String? {
        self.init(help: ArgumentHelp("\(help)", valueName: "duration"), transform: DurationArgument.parse)
    }

    /// A whole number of 32 bits.
    init(number help: String) where Value == Int64? {
        self.init(
            parsing: .unconditional, help: ArgumentHelp("\(help)", valueName: "number"),
            transform: { Int64(try WholeNumber.parse($0) as Int32) }
        )
    }

    /// What `--clear` names.
    init<Record>(clear _: Record.Type) where Value == [ClearedField<Record>] {
        self.init(
            wrappedValue: [], name: .customLong("clear"),
            help: ArgumentHelp("Set a field back to its default, mostly to none; can be repeated.", valueName: "field")
        )
    }
}

extension Flag where Value == Bool? {
    /// A flag for a column, with the one that sets it back.
    init(column help: String) {
        self.init(inversion: .prefixedNo, exclusivity: .exclusive, help: ArgumentHelp("\(help)"))
    }
}
