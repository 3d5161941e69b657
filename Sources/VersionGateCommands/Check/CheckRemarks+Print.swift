import UpdatePolicy

extension CheckRemarks {
    /// Prints the warnings on standard error.
    func print() {
        for warning in warnings { CommandError(warning.visible()).printAsWarning() }
    }
}
