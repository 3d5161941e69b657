import UpdatePolicy

struct XMLElement {
    let name: String
    let attributes: [(name: String, value: String)]
    let text: String
    let children: [XMLElement]

    init(
        _ name: String,
        _ attributes: [(name: String, value: String)] = [],
        _ children: [XMLElement?] = [],
        text: String = ""
    ) {
        (self.name, self.attributes, self.text) = (name, attributes, text)
        self.children = children.compactMap(\.self)
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
