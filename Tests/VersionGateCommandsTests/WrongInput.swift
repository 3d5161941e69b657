import Foundation
import TestDatabase
import TestPolicies
import Testing
import UpdatePolicy

/// An input that is wrong, as arguments or as a statement, and what must be said of it: a row of
/// `Tests/Vectors/wrong-inputs.json`.
struct WrongInput: Decodable, Sendable, CustomTestStringConvertible {
    /// The rows, and the policy that they meet.
    private struct Table: Decodable {
        let setup: [String]
        let cases: [WrongInput]
    }

    let id: String
    var arguments: [String]?
    var sql: String?
    /// What is in the file that `{file}` among the arguments stands for.
    var file: String?
    var stdin: String?
    var environment: [String: String]?
    /// The exit code; of SQL 0 for a statement that is carried out.
    let status: Int
    /// What is said of the fault.
    let fault: [String]
    /// What is said of what to do.
    let cure: [String]

    private static let table = Result { try Vectors.decode("wrong-inputs.json", as: Table.self) }

    /// All rows.
    static var all: [WrongInput] { get throws { try table.get().cases } }

    /// The statements of the policy that the rows meet, one for each revision.
    static let setup = (try? table.get().setup) ?? []

    var testDescription: String { "\(id): \(arguments?.joined(separator: " ") ?? sql ?? "")" }

    var needsServer: Bool { arguments?.contains { $0.contains("{public}") || $0.contains("{management}") } == true }

    /// What commands never say: words of SQL, and of libraries.
    private static let foreignWords = [
        "INSERT", "UPDATE ", "DELETE", "NULL", "duplicate key", "invalid input syntax", "CONTEXT", "Error Domain",
        "errno", "violates", "/.build/", "SocketAddressError",
    ]

    /// A command that is printed to be typed, but for those that need no database.
    private static var printedCommand: Regex<(Substring, Substring, Substring?)> {
        #/versiongate (app|release|rule|block|feed|export|plan|apply|status|check|impact|stats|history|undo|migrate|user|database)\b(?! (psql )?-- )/#
    }

    /// An answer: its exit code and what was said.
    struct Answer: Sendable {
        let status: Int
        let text: String
    }

    /// Gives the input to the program, whose database is the context `test`, or to psql.
    ///
    /// - Parameters:
    ///   - folder: A folder of this answer alone.
    ///   - server: The addresses that `{public}` and `{management}` stand for.
    func answer(in folder: String, server: (public: String, management: String)? = nil) async throws -> Answer {
        guard let arguments else {
            let result = try await TestDatabase.current.psql(sql ?? "", user: "versiongate_admin")
            return Answer(status: result.isSuccess ? 0 : 1, text: result.errors)
        }
        let path = "\(folder)/input"
        if let text = file ?? stdin { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        let words = arguments.map { argument in
            argument.replacing("{file}", with: path).replacing("{public}", with: server?.public ?? "")
                .replacing("{management}", with: server?.management ?? "")
        }
        var variables = ["TZ": BuiltBinary.centralEurope]
        variables.merge(isOnContext ? try PrintedText.variables(in: folder) : BuiltBinary(.current).variables) { $1 }
        variables.merge((environment ?? [:]).mapValues { $0.replacing("{folder}", with: folder) }) { $1 }
        let result = try await BuiltBinary(environment: variables.filter { $0.value != "-" })
            .run(arguments: words, input: stdin == nil ? "/dev/null" : path)
        // What a warning says of is in the output where a command went well.
        let text = result.status == 0 ? result.errors + result.output : result.errors
        return Answer(status: result.status, text: text.replacing(path, with: "FILE").replacing(folder, with: "FOLDER"))
    }

    /// Whether the database is that of a context, which every printed command has to name.
    private var isOnContext: Bool {
        environment == nil && arguments?.contains { $0.hasPrefix("--database-url") || $0 == "serve" } == false
    }

    /// Expects the fault and the cure in an answer, in words of the command line, and the context in each printed command.
    func expect(_ answer: Answer) {
        let text = answer.text.replacing(" --context test", with: "")
        #expect(answer.status == status, "\(testDescription): \(text)")
        #expect(!fault.isEmpty && !cure.isEmpty, "\(testDescription) must say both")
        for part in fault + cure {
            #expect(text.contains(part), "\(testDescription): no \"\(part)\" in \(text)")
        }
        guard arguments != nil else { return }
        for word in Self.foreignWords {
            #expect(!text.contains(word), "\(testDescription): \"\(word)\" in \(text)")
        }
        guard isOnContext, status != 64 || !text.localizedCaseInsensitiveContains("usage:") else { return }
        // What was typed stands in quotes.
        let printed = text.replacing("\"versiongate ", with: "\"").matches(of: Self.printedCommand).count
        #expect(
            answer.text.split(separator: " --context test", omittingEmptySubsequences: false).count - 1 >= printed,
            "\(testDescription): a printed command does not name the database: \(answer.text)"
        )
    }
}
