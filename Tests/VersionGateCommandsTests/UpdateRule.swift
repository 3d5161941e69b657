/// A rule for many servers of tests: who has less than 1.2 of an app is asked to update.
enum UpdateRule {
    /// The rows, as an admin writes them.
    static let rows = """
        INSERT INTO apps (bundle, note) VALUES ('com.example.doto', 'a secret note');
        INSERT INTO rules (key, bundle, versions, title, text, enabled, note)
        VALUES ('update', 'com.example.doto', '<1.2', 'Please update', '1.2 is there.', true, 'a secret note');
        """

    /// A client that the rule reaches.
    static let client = #"{"bundle":"com.example.doto","version":"1.1"}"#

    /// What that is answered.
    static let answer = #"{"messages":[{"id":"update","title":"Please update","text":"1.2 is there."}]}"#

    /// What everybody is answered without the rule.
    static let nothing = #"{"messages":[]}"#
}
