internal import PolystoreSchema

/// The Swift names of the classes and properties of a schema. They equal the stored names wherever possible.
struct SwiftNames {
    /// Names of types in generated files. A class with such a name would hide the type.
    private static let usedTypes = Set(ValueType.allCases.map(\.swiftName)).union([
        "Any", "AnyObject", "Array", "Attribute", "AttributeRules", "Cell", "CrossReference", "DeleteRule", "Entity", "EntityIndex",
        "Foundation", "Index", "Int64", "KeyPath", "ManagedObject", "Microseconds", "ObjectContext", "ObjectID", "Optional", "Polystore",
        "Protocol", "Relationship", "RowBatch", "RowView", "Self", "Sendable", "Set", "Snapshot", "Swift", "Type", "UInt64",
        "UniqueConstraint", "UnsafeMutablePointer", "Value",
    ])

    private let schema: Schema
    private let types: [String: String]

    init(_ schema: Schema) {
        self.schema = schema
        var types: [String: String] = [:]
        var taken: Set<String> = []
        // Entities that keep their names come first.
        let entities = schema.entities.map(\.name).sorted { (Self.type($0) != $0 ? 1 : 0, $0) < (Self.type($1) != $1 ? 1 : 0, $1) }
        for entity in entities {
            var name = Self.type(entity)
            while !taken.insert(name).inserted { name += "_" }
            types[entity] = name
        }
        self.types = types
    }

    /// Returns the class name of an entity.
    func type(_ entity: String) -> String { Names.swift(types[entity] ?? entity) }

    /// Returns the Swift names of all properties of an entity by stored name, including inherited ones.
    func members(of entity: EntityIndex) -> [String: String] {
        var names = schema.entities[entity].parent.flatMap { schema.index(of: $0) }.map { members(of: $0) } ?? [:]
        let description = schema[entity]
        let keys = description.slots.map(\.name) + description.relationships.map(\.relationship.name)
        var taken = Set(names.values)
        for key in keys where names[key] == nil && Self.member(key) == key && taken.insert(key).inserted { names[key] = key }
        for key in keys where names[key] == nil {
            var name = Self.member(key)
            if name == key { name += "_" }
            while !taken.insert(name).inserted { name += "_" }
            names[key] = name
        }
        return names
    }

    /// Returns the name of a class. It begins with an uppercase letter, so that it differs from the names of properties, and has the suffix
    /// `Entity` if another type has that name.
    private static func type(_ entity: String) -> String {
        let isLowercase = entity.unicodeScalars.first?.properties.isLowercase == true
        let name = isLowercase ? entity.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() : entity
        return usedTypes.contains(name) ? name + "Entity" : name
    }

    /// Returns the name of a property, with the suffix `_` if every object has a member of that name.
    private static func member(_ key: String) -> String { Names.usedMembers.contains(key) ? key + "_" : key }
}
