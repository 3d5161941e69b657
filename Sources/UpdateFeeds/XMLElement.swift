import UpdatePolicy

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
