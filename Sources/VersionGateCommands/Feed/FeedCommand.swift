import ArgumentParser

/// `versiongate feed`: the documents that other update clients read.
struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "Documents for update clients that apps have already, and templates of your own.",
        discussion: """
            The server answers apps that do not ask in its own way: in the format of the update library that they have, or \
            by a template that you write.

            Example:
              versiongate feed list com.example.doto
            """,
        subcommands: [FeedListCommand.self, FeedShowCommand.self, FeedTemplateCommand.self, FeedLintCommand.self]
    )
}

/// `versiongate feed template`: documents of one's own.
struct FeedTemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template",
        abstract: "Write and remove documents of your own.",
        discussion: """
            A template is Mustache: {{name}} writes a value, {{#name}}...{{/name}} what is between if there is one, and \
            {{^name}}...{{/name}} if there is none. The values are bundle, name, store_link, prompt (the version that \
            everybody below is asked to get), floor (the version below which nobody may go on), latest.version, \
            latest.build, latest.min_os, latest.live_at, latest.notes and revision, and in {{#messages}}...{{/messages}} id, \
            title, text, link and lockout of each message. {{^last()}},{{/last()}} in a list writes a comma between items.

            Values are escaped as the content type needs it; JSON puts its own quotation marks round them.

            Example:
              versiongate feed template set com.example.doto v.json \\
                --content-type application/json v.json
            """,
        subcommands: [FeedTemplateSetCommand.self, FeedTemplateRemoveCommand.self]
    )
}
