// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A value of a JSON document; the members of an object stay in their order.
enum JSONValue {
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case array([JSONValue])
    case object([(name: String, value: JSONValue?)])

    /// The document; members without a value are left out.
    var text: String {
        switch self {
        case .string(let text): JSONString.literal(text)
        case .integer(let number): String(number)
        case .boolean(let boolean): boolean ? "true" : "false"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.compactMap { name, value in
                    value.map { "\(JSONString.literal(name)):\($0.text)" }
                }.joined(separator: ",") + "}"
        }
    }
}

/// An element of an XML document.
struct XMLElement {
    let name: String
    let attributes: [(name: String, value: String)]
    let text: String
    let children: [XMLElement]

    /// An element with a text.
    init(_ name: String, _ attributes: [(name: String, value: String)] = [], text: String = "") {
        self.init(name, attributes, text: text, children: [])
    }

    /// An element with elements in it, without attributes.
    init(_ name: String, _ children: [XMLElement?]) {
        self.init(name, [], text: "", children: children.compactMap(\.self))
    }

    /// An element with attributes and with elements in it.
    init(_ name: String, _ attributes: [(name: String, value: String)] = [], _ children: [XMLElement?]) {
        self.init(name, attributes, text: "", children: children.compactMap(\.self))
    }

    private init(_ name: String, _ attributes: [(name: String, value: String)], text: String, children: [XMLElement]) {
        self.name = name
        self.attributes = attributes
        self.text = text
        self.children = children
    }

    /// A document of this element, behind an XML declaration and perhaps a document type.
    func document(type: String = "") -> String {
        #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n" + (type.isEmpty ? "" : type + "\n") + serialized + "\n"
    }

    private var serialized: String {
        let opening = name + attributes.map { " \($0.name)=\"\(Self.escaped($0.value))\"" }.joined()
        if children.isEmpty, text.isEmpty { return "<\(opening)/>" }
        return "<\(opening)>" + Self.escaped(text) + children.map(\.serialized).joined() + "</\(name)>"
    }

    /// A text for an element or an attribute, by the five entities of XML alone.
    ///
    /// A carriage return becomes a line feed, as readers make it one. What XML 1.0 cannot hold is left out: no reader could
    /// be told of it, and one such character makes the whole document invalid.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in text.unicodeScalars {
            let wasAfterReturn = isAfterReturn
            isAfterReturn = scalar == "\r"
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&apos;".unicodeScalars)
            case "\r": escaped.append("\n")
            case "\n": if !wasAfterReturn { escaped.append("\n") }
            case "\t": escaped.append("\t")
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": break
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
