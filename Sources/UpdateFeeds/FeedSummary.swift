package import UpdatePolicy

/// What a policy says to the clients of a question, for a document of the app's own.
package struct FeedSummary: Sendable {
    package let bundle: String

    /// The name of the app, else its bundle.
    package let name: String

    /// What is announced and demanded; `nil` where the policy says nothing.
    package let announcement: Announcement?

    /// The notes of the release that every client can get.
    package let notes: String?

    /// The messages that every client of the question is sent, as lockouts where they are lockouts to all of them; none where
    /// they were not asked for.
    package let messages: [Message]

    /// What is said on the platform that the question names, else on that of its User-Agent; without either, what is said on
    /// all.
    ///
    /// - Returns: `nil` where the policy has nothing about the app, or its messages are too large for a document.
    package init?(
        answering question: FeedQuestion,
        by policy: CompiledPolicy,
        at time: Timestamp,
        withMessages: Bool = true
    ) {
        let source = FeedSource(question, policy, time)
        guard let app = source.app else { return nil }
        let platform = app.platform(of: question) ?? ""
        bundle = app.bundle
        name = app.name
        announcement = source.announcement(on: platform, naming: .any)
        notes = announcement?.latest.flatMap { AppVersion($0.version) }.flatMap { version in
            app.notes(of: version, on: platform, in: question.language)
        }
        guard let messages = withMessages ? source.messages(on: platform) : [] else { return nil }
        self.messages = messages
    }
}
