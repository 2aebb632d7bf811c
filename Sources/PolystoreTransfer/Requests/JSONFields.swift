package import PolystoreStorage

/// The members of a JSON object whose names were checked.
package struct JSONFields {
    private let members: [String: JSONValue]
    private let code: StorageError.Code

    /// Reads the object of a text.
    ///
    /// - Parameters:
    ///   - text: The JSON.
    ///   - noun: What the object is, for messages.
    ///   - known: The names that it may have.
    ///   - code: The code of the errors.
    package init(_ text: String, _ noun: String, known: [String], code: StorageError.Code) throws(StorageError) {
        guard case .object(let members) = try Self.parse(text, noun, code: code) else {
            throw StorageError(code, "\(noun) must be a JSON object")
        }
        for member in members where !known.contains(member.name) {
            throw StorageError(
                code, "\"\(member.name.excerpt())\" is no member of \(noun)\(Suggestion.nearestOrAll(member.name, of: known))")
        }
        self.members = Dictionary(members.map { ($0.name, $0.node.value) }) { first, _ in first }
        self.code = code
    }

    /// Parses a JSON text, which an error names.
    package static func parse(_ text: String, _ noun: String, code: StorageError.Code) throws(StorageError) -> JSONValue {
        do throws(JSONError) { return try JSONParser.parse(text).value } catch {
            throw StorageError(code, "\(noun) is no JSON: line \(error.line), column \(error.column): \(error.message)", cause: error)
        }
    }

    /// The member of a name; nil if there is none or it is `null`.
    package subscript(name: String) -> JSONValue? { if case .null? = members[name] { nil } else { members[name] } }

    /// Returns a string; nil without the member.
    package func string(_ name: String) throws(StorageError) -> String? {
        guard let value = self[name] else { return nil }
        guard case .string(let text) = value else { throw wrong(name, "a string") }
        return text
    }

    /// Returns a Boolean; false without the member.
    package func bool(_ name: String) throws(StorageError) -> Bool { try optionalBool(name) ?? false }

    /// Returns a Boolean; nil without the member.
    package func optionalBool(_ name: String) throws(StorageError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard case .bool(let isTrue) = value else { throw wrong(name, "true or false") }
        return isTrue
    }

    /// Returns an integer of at least 0; nil without the member.
    package func count(_ name: String) throws(StorageError) -> Int? {
        guard let value = self[name] else { return nil }
        guard case .number(let text) = value, let count = Int(text), count >= 0 else { throw wrong(name, "an integer of at least 0") }
        return count
    }

    /// Returns an array of strings; nil without the member.
    package func strings(_ name: String) throws(StorageError) -> [String]? {
        guard let value = self[name] else { return nil }
        guard case .array(let items) = value else { throw wrong(name, "an array of strings") }
        var strings: [String] = []
        for item in items {
            guard case .string(let text) = item.value else { throw wrong(name, "an array of strings") }
            strings.append(text)
        }
        return strings
    }

    /// Returns the members of an object, in their order; none without the member.
    package func object(_ name: String) throws(StorageError) -> [(name: String, value: JSONValue)] {
        guard let value = self[name] else { return [] }
        guard case .object(let members) = value else { throw wrong(name, "an object") }
        return members.map { ($0.name, $0.node.value) }
    }

    /// Returns an object whose members are strings; empty without the member.
    package func texts(_ name: String) throws(StorageError) -> [String: String] {
        var texts: [String: String] = [:]
        for member in try object(name) {
            guard case .string(let text) = member.value else { throw wrong(name, "an object whose members are strings") }
            texts[member.name] = text
        }
        return texts
    }

    /// Returns the error of a member of another form.
    package func wrong(_ name: String, _ wanted: String) -> StorageError { StorageError(code, "\"\(name)\" must be \(wanted)") }
}
