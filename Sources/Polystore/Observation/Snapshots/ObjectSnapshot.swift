internal import Foundation
public import PolystoreStorage

/// The values of an object at one moment, relationships as identities: a value that can be sent, kept and compared.
///
/// Properties are read as those of the object: `snapshot.name`, `snapshot.owner` (an `ObjectID`), `snapshot.pets` (a set of them).
@dynamicMemberLookup
public struct ObjectSnapshot<Object: ManagedObject>: Sendable, Hashable {
    /// The identity of the object.
    public let objectID: ObjectID<Object>
    /// The stored name of the object's own entity.
    public let entityName: String
    /// The version of the row.
    public let version: Int64
    /// The attributes, by stored name.
    private let attributes: [String: Value]
    /// What relationships lead to, by stored name; an ordered one in its order.
    private let related: [String: [ObjectKey]]

    /// The relationships to one object.
    private let single: Set<String>
    /// The attributes that a coder makes, by stored name.
    private let coders: [String: String]

    /// What a row says, with what its relationships to many lead to.
    init(
        _ row: borrowing RowView, _ store: Int, _ core: StackCore, _ reader: ReadSession
    ) throws(StorageError) {
        let schema = core.model.schema, description = schema[row.entity], storeID = core.storeID(store)
        func key(_ destination: EntityIndex, _ key: Int64) -> ObjectKey {
            ObjectKey(store: storeID, root: schema.entities[schema[destination].root].name, key: key)
        }
        objectID = ObjectID(key(row.entity, row.key))
        entityName = description.name
        version = row.version
        var attributes: [String: Value] = [:], related: [String: [ObjectKey]] = [:], coders: [String: String] = [:]
        for (index, slot) in description.slots.enumerated() {
            if let destination = slot.destination {
                related[slot.name] = row[index].isNull ? [] : [key(destination, row[index].int)]
            } else {
                attributes[slot.name] = Value(row[index], as: slot.type) ?? .null
                if let coder = slot.attribute?.coder { coders[slot.name] = coder }
            }
        }
        for (position, relationship) in description.relationships.enumerated() {
            if case .slot = relationship.place { continue }
            var keys: [ObjectKey] = []
            try MemberRows(reader).forEach(row.entity, position, of: row.key) { member in
                keys.append(key(relationship.destination, member.key))
                return true
            }
            related[relationship.relationship.name] = keys
        }
        self.attributes = attributes
        self.related = related
        self.coders = coders
        single = Set(description.relationships.lazy.filter { $0.relationship.cardinality == .toOne }.map(\.relationship.name))
    }

    /// The value of an attribute; the placeholder of its type for a key path that names none. A snapshot holds no computed property: that one
    /// is asked for is reported to the logger as a mistake of the program.
    public subscript<V: AttributeValue>(dynamicMember keyPath: KeyPath<Object, V>) -> V {
        guard let name = Self.name(keyPath), let value = attributes[name] else { return V.placeholder }
        return V(attributeValue: value) ?? V.placeholder
    }

    /// The object that a to-one relationship leads to; nil for none.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, T?>) -> ObjectID<T>? {
        Self.name(keyPath).flatMap { related[$0]?.first }.map { ObjectID($0) }
    }

    /// The objects that a to-many relationship leads to.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, Set<T>>) -> Set<ObjectID<T>> {
        Set((Self.name(keyPath).flatMap { related[$0] } ?? []).map { ObjectID($0) })
    }

    /// The objects that an ordered to-many relationship leads to, in its order.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, [T]>) -> [ObjectID<T>] {
        (Self.name(keyPath).flatMap { related[$0] } ?? []).map { ObjectID($0) }
    }

    /// The value of an attribute by its stored name; nil where the entity has none of the name.
    public func value(_ name: String) -> Value? { attributes[name] }

    /// The objects that a relationship leads to, by its stored name; nil where the entity has none of the name.
    public func objectIDs(_ name: String) -> [ObjectID<ManagedObject>]? { related[name].map { $0.map { ObjectID($0) } } }

    /// All attributes by their stored names.
    public func dictionaryForValues() -> [String: Value] { attributes }

    /// The stored names of what is different in another snapshot of the object.
    public func changedKeys(since other: ObjectSnapshot) -> Set<String> {
        var names: Set<String> = []
        for (name, value) in attributes where other.attributes[name] != value { names.insert(name) }
        for (name, keys) in related where other.related[name] != keys { names.insert(name) }
        return names
    }

    private static func name<Property>(_ keyPath: KeyPath<Object, Property>) -> String? {
        do throws(StorageError) {
            let path = try KeyPathProbe.resolve(keyPath)
            return path.names.count == 1 ? path.names.first : nil
        } catch {
            _ = StoreLogging.reportMisuse(error)
            return nil
        }
    }
}

/// Encoded by stored names: attributes, the URIs of what relationships lead to, and the own one as `objectID`. A relationship to many is a
/// list; one to a single object is the URI or nil.
extension ObjectSnapshot: Encodable {
    /// Encodes the values; the strategies of the encoder apply to dates and data.
    public func encode(to encoder: any Encoder) throws {
        var encoded = EncodedValues()
        encoded.add("objectID", objectID.description)
        for (name, value) in attributes { encoded.add(name, value, coder: coders[name]) }
        for (name, keys) in related {
            if single.contains(name) { encoded.add(name, keys.first?.description) } else { encoded.add(name, keys.map(\.description)) }
        }
        try encoded.encode(to: encoder)
    }
}
