/// The bytes of an answer do not say what the engine's messages say.
struct AnswerBytesError: Error, CustomStringConvertible {
    let document: String

    var description: String { "the bytes of the answer differ from the messages: \(document)" }
}
