public import Foundation
public import PolystoreStorage

/// Which files feed which entities, and which columns make a relationship: the file `load.json` beside a model.
///
/// ```json
/// {"nil": ["NA", ""],
///  "files": [{"file": "planes.csv", "entity": "Plane"},
///            {"file": "flights.csv", "entity": "Flight",
///             "relationships": {"plane": {"tailnum": "tailnum"}}}]}
/// ```
/// A relationship names for each attribute of the destination the column that holds its value; destinations are objects of the files, in
/// whatever order, and of the store. Columns of the same name as an attribute fill it; `columns` names others. A column that fills nothing
/// is refused, unless `"ignoresUnknown": true` says that it may be there.
///
/// A CSV field says nil where its text is one of `nil`, by itself only the empty one. A field of quotes with nothing between them is an
/// empty text where the attribute is a text. In NDJSON `null` and a missing name say nil. A missing name gives an attribute its default.
public struct LoadMapping: Sendable, Codable {
    /// One file.
    public struct File: Sendable, Codable {
        /// The name of the file, beside the mapping.
        public var file: String
        /// The entity of its rows.
        public var entity: String
        /// Attribute to column, where the names differ.
        public var columns: [String: String]?
        /// Relationship to the destination's attributes and the columns with their values.
        public var relationships: [String: [String: String]]?
    }

    /// The texts of CSV fields that mean nil; the empty one where this is left out.
    public var `nil`: [String]?
    /// Whether columns and names that fill nothing are left out; otherwise they are refused.
    public var ignoresUnknown: Bool?
    /// The files.
    public var files: [File]

    /// The mapping of a JSON text.
    public init(json: Data) throws(StorageError) {
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
    }

    /// Refuses names that mean nothing: what they say would be lost.
    private static func checkNames(_ document: JSONNode) throws(JSONError) {
        func check(_ members: [JSONMember], _ known: [String]) throws(JSONError) {
            for member in members where !known.contains(member.name) {
                let near = Suggestion.nearest(member.name, in: known)
                throw JSONError(line: member.line, column: 1, message: "\"\(member.name.excerpt())\" is not known here\(near)")
            }
        }
        guard case .object(let members) = document.value else { return }
        try check(members, ["nil", "ignoresUnknown", "files"])
        for member in members where member.name == "files" {
            guard case .array(let files) = member.node.value else { continue }
            for file in files {
                guard case .object(let members) = file.value else { continue }
                try check(members, ["file", "entity", "columns", "relationships"])
            }
        }
    }

    /// A mapping of files whose columns are named as the attributes.
    public init(files: [File]) { self.files = files }

    /// A file whose columns are named as the attributes.
    public static func file(_ file: String, entity: String) -> File { File(file: file, entity: entity, columns: nil, relationships: nil) }
}

/// What a load did.
public struct LoadReport: Sendable {
    /// Rows by entity, in the order of the files.
    public var loaded: [(entity: String, count: Int)] = []
    /// What did not lead anywhere.
    public var dangling: [Dangling] = []

    /// The references of one relationship that lead nowhere.
    public struct Dangling: Sendable, Hashable {
        /// The relationship, `Entity.name`.
        public let relationship: String
        /// Rows whose columns name something that does not exist.
        public var unresolved: Int
        /// Different things that do not exist.
        public var distinct: Int
        /// Rows whose columns name nothing.
        public var unnamed: Int
    }
}
