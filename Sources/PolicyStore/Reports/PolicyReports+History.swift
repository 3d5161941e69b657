extension PolicyReports {
    /// The history as this transaction sees it.
    package var history: PolicyHistory {
        get throws { try PolicyHistory(session) }
    }

    /// Entries of the history as a JSON array, newest first.
    package func historyJSON(_ filter: HistoryFilter) throws -> String {
        try json(Self.entries, filter.parameters)
    }

    /// Entries of the history as JSON objects, newest first.
    package func historyObjects(_ filter: HistoryFilter) throws -> [String] {
        try objects(Self.entries, filter.parameters)
    }

    private static let entries = """
        SELECT change.id, change.at, change.role::text, change.os_user, change.tool, change.why, change.undoes,
            (SELECT json_agg(json_build_object('table', table_name, 'key', key, 'before', before, 'after', after)
                ORDER BY ordinal)
             FROM public.change_rows AS row WHERE row.change = change.id) AS rows
        FROM public.changes AS change WHERE change.id IN (\(HistoryFilter.query)) ORDER BY change.id DESC
        """
}
