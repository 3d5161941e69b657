import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule translate`
struct RuleTranslateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "translate",
        abstract: "Give a rule's message in another language.",
        discussion: """
            Clients get the best match for their language (zh-Hant-TW, zh-Hant, zh), else the rule's own text.

            Examples:
              versiongate rule translate update-1.2 de \\
                --title "Bitte aktualisieren" \\
                --text "{app} {target} ist da."
              versiongate rule translate update-1.2 de --remove
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Argument(help: "The language, as a BCP 47 tag: de, pt-BR, zh-Hant.")
    var language: String

    @Option(help: "The title in that language.")
    var title: String?

    @Option(help: "The text in that language.")
    var text: String?

    @Flag(help: "Remove the translation.")
    var remove = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        if remove, title != nil || text != nil {
            throw ValidationError("--remove takes the translation away; leave --title and --text out.")
        }
        if !remove, title == nil, text == nil {
            throw ValidationError("Give --title and --text, or --remove.")
        }
    }

    func run() async throws {
        try await options.edit(on: database) { editor in
            try editor.edit(rule: key)
            let translation: [ColumnValue<RuleText>] = [.owner(key), .init(\.language, language)]
            if remove {
                guard try editor.delete(where: translation) > 0 else {
                    throw CommandError(
                        "the rule \(key) has no text in \(language); `\(PrintedCommand("rule show \(key)"))` shows its texts"
                    )
                }
                return
            }
            var changes: [ColumnValue<RuleText>] = []
            if let title { changes.append(.init(\.title, title)) }
            if let text { changes.append(.init(\.text, text)) }
            if try editor.update(where: translation, set: changes) > 0 { return }
            guard title != nil, text != nil else {
                throw CommandError("the rule \(key) has no text in \(language) yet; give both --title and --text")
            }
            try editor.insert(translation + changes)
        }
    }
}
