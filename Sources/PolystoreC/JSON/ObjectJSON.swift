internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// Writes objects as JSON.
struct ObjectJSON {
    /// The relationships whose objects are written in place of their keys.
    private struct Related {
        var parts: [String: Related] = [:]

        mutating func insert(_ path: ArraySlice<String>) {
            guard let first = path.first else { return }
            parts[first, default: Related()].insert(path.dropFirst())
        }
    }

    private let schema: Schema
    private var related = Related()

    /// - Parameter prefetched: The key paths of relationships whose objects are part of the JSON.
    init(_ schema: Schema, prefetched: [String] = []) {
        self.schema = schema
        for path in prefetched { related.insert(PropertyPath(path).names[...]) }
    }

    /// The members of a JSON object.
    typealias Members = [(name: String, value: String)]

    /// Returns the array of objects.
    func array(_ objects: [DynamicObject]) throws(StorageError) -> String {
        var texts: [String] = []
        texts.reserveCapacity(objects.count)
        for object in objects { texts.append(try text(object)) }
        return JSONText.array(texts)
    }

    /// Returns the JSON of an object.
    func text(_ object: DynamicObject) throws(StorageError) -> String { try text(object, related) }

    /// Returns the members that identify an object.
    static func identity(_ entity: String, _ key: Int64) -> Members { [("entity", JSONText.string(entity)), ("key", "\(key)")] }

    private func text(_ object: DynamicObject, _ related: Related) throws(StorageError) -> String {
        let description = schema[Int(object._entity)]
        var members = Self.identity(description.name, object._key) + [("version", "\(object.version)")]
        for slot in description.slots where related.parts[slot.name] == nil {
            let value = try object.value(slot.name)
            if !value.isNull { members.append((RowLines.member(slot.name), JSONText.value(value))) }
        }
        for relationship in description.relationships.map(\.relationship) {
            guard let part = related.parts[relationship.name] else { continue }
            let name = RowLines.member(relationship.name)
            if case .toOne = relationship.cardinality {
                if let other = try object.object(relationship.name) { members.append((name, try text(of: other, part))) }
                continue
            }
            var texts: [String] = []
            for other in try object.objects(relationship.name) { texts.append(try text(of: other, part)) }
            members.append((name, JSONText.array(texts)))
        }
        return JSONText.object(members)
    }

    /// Every object of a stack that has only a schema is dynamic.
    private func text(of object: ManagedObject, _ related: Related) throws(StorageError) -> String {
        if let object = object as? DynamicObject { return try text(object, related) }
        return JSONText.object(Self.identity(object.entityName, object._key))
    }
}
