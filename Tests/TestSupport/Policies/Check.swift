package import UpdatePolicy

/// A client and the time of its check.
package struct Check: Sendable, Equatable {
    package var client: ClientDescription
    package var time: Timestamp

    package init(client: ClientDescription, time: Timestamp) {
        self.client = client
        self.time = time
    }

    /// The check as an object of JSON, as SQL is asked about it.
    package var json: String {
        "{\"client\": \(client.json), \"at\": \(JSONText.quoted(time.description))}"
    }
}
