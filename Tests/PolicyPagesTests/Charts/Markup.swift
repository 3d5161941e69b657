import Foundation
import FoundationXML
import PolicyStore
import UpdatePolicy

@testable import PolicyPages

/// The elements of a piece of well-formed markup, in order.
final class Markup: NSObject, XMLParserDelegate {
    /// An element with the text that is directly in it.
    struct Element {
        let name: String
        let attributes: [String: String]
        var text = ""

        /// Whether it has a class.
        func has(_ name: String) -> Bool { (attributes["class"] ?? "").split(separator: " ").contains(name[...]) }
    }

    private(set) var elements: [Element] = []
    private var open: [Int] = []

    struct NotWellFormed: Error {
        let line: Int
        let text: String
    }

    /// Reads markup.
    ///
    /// - Throws: ``NotWellFormed``.
    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else { throw NotWellFormed(line: parser.lineNumber, text: text) }
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        open.append(elements.count)
        elements.append(Element(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        open.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if let last = open.last { elements[last].text += string }
    }
}

extension Chart {
    /// The chart as a page has it.
    var html: String { PageTemplates.text("chart", view(of: "/overview")) }

    /// Its elements.
    func markup() throws -> Markup { try Markup(html) }
}

extension Markup {
    /// The elements of the image, without those of the legend and of what comes after it.
    var image: [Element] {
        Array(elements.drop { $0.name != "svg" }.prefix { $0.name != "ul" && $0.name != "details" })
    }

    /// The elements of the table.
    var table: [Element] { Array(elements.drop { $0.name != "table" }) }
}

/// The lines of a path of `M`, `L`, `H`, `V` and `Z`.
struct Path {
    private var lines: [(from: (x: Double, y: Double), to: (x: Double, y: Double))] = []

    /// Follows the commands.
    init(_ text: String) {
        var at = (x: 0.0, y: 0.0)
        var start = at
        for command in text.matches(of: #/([MLHVZ])([^MLHVZ]*)/#) {
            let numbers = command.output.2.split(separator: " ").compactMap { Double($0) }
            var next = at
            switch command.output.1 {
            case "M": (next, start) = ((numbers[0], numbers[1]), (numbers[0], numbers[1]))
            case "L": next = (numbers[0], numbers[1])
            case "H": next.x = numbers[0]
            case "V": next.y = numbers[0]
            default: next = start
            }
            if command.output.1 != "M" { lines.append((at, next)) }
            at = next
        }
    }

    /// Where the level lines of the path pass above or below a place.
    func heights(at x: Double) -> [Double] {
        lines.filter { $0.from.y == $0.to.y && min($0.from.x, $0.to.x) < x && x < max($0.from.x, $0.to.x) }.map(
            \.from.y
        )
    }
}
