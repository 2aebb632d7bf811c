/// An element of an XML text, with the line on which it begins.
struct XMLTag {
    private static let longestName = 250

    let name: String
    let line: Int
    var attributes: [String: String] = [:]
    var children: [XMLTag] = []
    /// The text of the element, without that of its children.
    var text = ""

    func children(_ name: String) -> [XMLTag] { children.filter { $0.name == name } }

    /// Returns the value of an attribute that contains a name.
    func string(_ key: String, _ path: String) throws(SchemaError) -> String? {
        guard let text = attributes[key] else { return nil }
        if text.utf8.count > Self.longestName {
            throw SchemaError(path, "\"\(key)\" has more than \(Self.longestName) bytes", line: line)
        }
        return text
    }

    /// Returns the value of a required attribute that contains a name.
    func required(_ key: String, _ path: String) throws(SchemaError) -> String {
        guard let text = try string(key, path) else { throw SchemaError(path, "\"\(key)\" is missing in <\(name)>", line: line) }
        return text
    }

    /// Returns the value of a YES or NO attribute. A missing attribute is NO.
    func bool(_ key: String, _ path: String) throws(SchemaError) -> Bool {
        switch attributes[key]?.uppercased() {
        case nil, "NO", "FALSE": return false
        case "YES", "TRUE": return true
        case .some: throw SchemaError(path, "\"\(key)\" must be YES or NO", line: line)
        }
    }

    /// Returns the value of an attribute that contains a nonnegative integer.
    func count(_ key: String, _ path: String) throws(SchemaError) -> Int? {
        guard let text = attributes[key] else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw SchemaError(path, "\"\(key)\" must be an integer of at least 0", line: line)
        }
        return count
    }

    /// Refuses children with unknown names, because their content would be lost.
    func checkChildren(_ known: [String], _ path: String) throws(SchemaError) {
        for child in children where !known.contains(child.name) {
            let suggestion = Suggestion.nearest(child.name, in: known)
            throw SchemaError(path, "<\(name)> has no element <\(child.name)>\(suggestion)", line: child.line)
        }
    }
}
