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
        let opening = name + attributes.map { " \($0.name)=\"\(XMLText.escaped($0.value))\"" }.joined()
        if children.isEmpty, text.isEmpty { return "<\(opening)/>" }
        return "<\(opening)>" + XMLText.escaped(text) + children.map(\.serialized).joined() + "</\(name)>"
    }
}
