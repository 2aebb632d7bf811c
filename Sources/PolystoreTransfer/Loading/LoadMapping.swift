package import Foundation
package import PolystoreStorage

/// The assignment of files to entities, and of columns to relationships. It is stored in the file `load.json` next to a model.
///
/// ```json
/// {"nil": ["NA", ""],
///  "files": [{"file": "planes.csv", "entity": "Plane"},
///            {"file": "flights.csv", "entity": "Flight",
///             "relationships": {"plane": {"tailnum": "tailnum"}}}]}
/// ```
/// A relationship maps each attribute of the destination to the column that contains its value. Destinations are objects of the files, in
/// any order, and of the store. To a to-many relationship each record adds members: the one whose values its columns contain, each element of
/// an array in JSON, or each part of a CSV field, with `"separator": ";"`. The records of a table that joins two entities are records of one of
/// them, with `on`. A column with the same name as an attribute fills it; `columns` assigns other names. A column that fills
/// nothing is refused, unless `"ignoresUnknown": true` permits it.
///
/// With `"on": ["tailnum"]` a record whose tailnum an object of the store has, or an earlier record, updates that object: it gets the values
/// of the columns and members that the record has. Any other record is a new object.
///
/// A CSV field is nil if its text is one of `nil`, which by default contains only the empty text. A quoted field without content is an
/// empty string if the attribute is a string. In NDJSON, `null` and a missing name are nil. A missing name gives an attribute its default.
package struct LoadMapping: Sendable, Codable {
    /// A file and its mapping.
    package struct File: Sendable, Codable {
        /// The name of the file, relative to the mapping.
        package var file: String
        /// The entity of its rows.
        package var entity: String
        /// The columns by attribute, where the names differ.
        package var columns: [String: String]?
        /// The columns by attribute of the destination, for each relationship.
        package var relationships: [String: [String: String]]?
        /// The attributes that identify an object to be updated; nil if every record is a new object.
        package var on: [String]?
        /// The text between the values of a CSV field that names several members of a to-many relationship; nil if a field is one value.
        package var separator: String?
        /// Whether the file has records of several entities, as a transfer writes those of rows that it has left out: of
        /// these the records of the entity are read, with their keys. Related objects are found by their keys.
        var hasObjects = false

        private enum CodingKeys: CodingKey {
            case file, entity, columns, relationships, on, separator
        }

        /// Creates the mapping of a file whose columns have the names of the attributes.
        init(file: String, entity: String) {
            self.file = file
            self.entity = entity
        }
    }

    /// The texts of CSV fields that represent nil. By default only the empty text does.
    package var `nil`: [String]?
    /// Whether columns and names that fill nothing are ignored. Otherwise they are refused.
    package var ignoresUnknown: Bool?
    /// The files to load.
    package var files: [File]

    /// Decodes the mapping of a JSON text.
    package init(json: Data) throws(StorageError) {
        do throws(JSONError) { try Self.checkNames(JSONParser.parse(String(decoding: json, as: UTF8.self))) } catch {
            throw StorageError(
                .invalidConfiguration, "the load mapping, line \(error.line), column \(error.column): \(error.message)", cause: error)
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch {
            throw StorageError(
                .invalidConfiguration, "the load mapping is not of the form {\"files\": [{\"file\": …, \"entity\": …}]}", cause: error)
        }
        if files.isEmpty { throw StorageError(.invalidConfiguration, "the load mapping names no files") }
    }

    /// Refuses unknown names, because their content would be lost.
    private static func checkNames(_ document: JSONNode) throws(JSONError) {
        func check(_ members: [JSONMember], _ known: [String]) throws(JSONError) {
            for member in members where !known.contains(member.name) {
                let near = Suggestion.nearestOrAll(member.name, of: known)
                throw JSONError(line: member.line, column: 1, message: "\"\(member.name.excerpt())\" is not a known key\(near)")
            }
        }
        guard case .object(let members) = document.value else { return }
        try check(members, ["nil", "ignoresUnknown", "files"])
        for member in members where member.name == "files" {
            guard case .array(let files) = member.node.value else { continue }
            for file in files {
                guard case .object(let members) = file.value else { continue }
                try check(members, ["file", "entity", "columns", "relationships", "on", "separator"])
            }
        }
    }

    /// Creates a mapping of files.
    package init(files: [File]) { self.files = files }

    /// Returns the mapping of a file whose columns have the names of the attributes.
    package static func file(_ file: String, entity: String) -> File {
        File(file: file, entity: entity)
    }
}
