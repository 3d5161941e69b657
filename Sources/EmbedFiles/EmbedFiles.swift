import Foundation

/// Writes the text files named by its arguments into one Swift file: `EmbedFiles OUTPUT INPUT...`.
@main
struct EmbedFiles {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let output = arguments.first else {
            FileHandle.standardError.write(Data("usage: EmbedFiles OUTPUT INPUT...\n".utf8))
            exit(64)
        }
        var source = "/// The files that the binary carries for this module, by their names, in order.\n"
        source += "let embeddedFiles: [(name: String, text: String)] = [\n"
        for path in arguments.dropFirst() {
            let file = URL(filePath: path)
            let text = try String(contentsOf: file, encoding: .utf8)
            source +=
                "    (name: \(literal(file.lastPathComponent)), text: \(literal(text))),\n"
        }
        source += "]\n"
        try source.write(toFile: output, atomically: true, encoding: .utf8)
    }

    /// A Swift string literal that stands for `text` exactly, whatever it holds.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": literal += "\\n"
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
