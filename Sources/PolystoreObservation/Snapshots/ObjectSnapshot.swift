internal import PolystoreFoundation
public import PolystoreObjects

/// The values of an object at one moment, with relationships as identities: a value that can be sent, kept and compared.
///
/// Properties are read as those of the object: `snapshot.name`, `snapshot.owner` (an `ObjectID`), `snapshot.pets` (a set of them). An
/// assignment changes only this value, for example that of a form, and neither the object nor other snapshots.
@dynamicMemberLookup
public struct ObjectSnapshot<Object: ManagedObject>: Sendable, Hashable {
    /// The identity of the object.
    public let objectID: ObjectID<Object>
    /// The stored name of the object's own entity.
    public let entityName: String
    /// The version of the row.
    public let version: Int64
    /// The attributes, by stored name.
    private var attributes: [String: Value]
    /// The destinations of relationships, by stored name; of an ordered one in its order.
    private var related: [String: [ObjectKey]]

    /// The relationships to one object.
    private let single: Set<String>
    /// The attributes with a coder, by stored name.
    private let coders: [String: String]

    /// Creates a snapshot of a row, with the destinations of its to-many relationships.
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
            try MemberRows(reader).forEach(row.entity, position, of: row.key, inOrder: true) { member in
                keys.append(key(relationship.destination, member.key))
                return true
            }
            related[relationship.relationship.name] = keys
        }
        self.attributes = attributes
        self.related = related
        self.coders = coders
        single = Self.single(description)
    }

    /// Creates a snapshot of the present values of an object, including uncommitted ones.
    init(_ object: ManagedObject) {
        let description = object.description, context = object._context
        objectID = ObjectID(context.objectKey(of: object))
        entityName = description.name
        version = object.version
        var attributes = object.currentValues(), related: [String: [ObjectKey]] = [:], coders: [String: String] = [:]
        for (index, slot) in description.slots.enumerated() {
            if slot.destination == nil {
                if let coder = slot.attribute?.coder { coders[slot.name] = coder }
            } else {
                attributes[slot.name] = nil
                let target: ObjectID<ManagedObject>? = object._target(object._reference(index), index)
                related[slot.name] = target.map { [$0.key] } ?? []
            }
        }
        for relationship in description.relationships {
            if case .slot = relationship.place { continue }
            let name = relationship.relationship.name, isOrdered = relationship.relationship.cardinality == .toManyOrdered
            let members: [ManagedObject] = isOrdered ? object._list(name) : object._set(name).sorted { $0._key < $1._key }
            related[name] = members.map { context.objectKey(of: $0) }
        }
        self.attributes = attributes
        self.related = related
        self.coders = coders
        single = Self.single(description)
    }

    private static func single(_ description: EntityDescription) -> Set<String> {
        Set(description.relationships.lazy.filter { $0.relationship.cardinality == .toOne }.map(\.relationship.name))
    }

    /// The value of an attribute, or the placeholder of its type for a key path that is not an attribute. A snapshot contains no
    /// computed properties: the access is reported to the logger as a programming error.
    public subscript<V: AttributeValue>(dynamicMember keyPath: KeyPath<Object, V>) -> V {
        get { Self.name(keyPath).flatMap { attributes[$0] }.flatMap { V(attributeValue: $0) } ?? V.placeholder }
        set { if let name = Self.name(keyPath) { setValue(newValue.attributeValue, for: name) } }
    }

    /// The object that a to-one relationship references; nil if there is none.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, T?>) -> ObjectID<T>? {
        get { Self.name(keyPath).flatMap { related[$0]?.first }.map { ObjectID($0) } }
        set { if let name = Self.name(keyPath) { setKeys(newValue.map { [$0.key] } ?? [], for: name) } }
    }

    /// The objects that a to-many relationship references.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, Set<T>>) -> Set<ObjectID<T>> {
        get { Set((Self.name(keyPath).flatMap { related[$0] } ?? []).map { ObjectID($0) }) }
        set { if let name = Self.name(keyPath) { setKeys(newValue.map(\.key).sorted { $0.key < $1.key }, for: name) } }
    }

    /// The objects that an ordered to-many relationship references, in its order.
    public subscript<T: ManagedObject>(dynamicMember keyPath: KeyPath<Object, [T]>) -> [ObjectID<T>] {
        get { (Self.name(keyPath).flatMap { related[$0] } ?? []).map { ObjectID($0) } }
        set { if let name = Self.name(keyPath) { setKeys(newValue.map(\.key), for: name) } }
    }

    /// Replaces the value of an attribute, by its stored name. Does nothing if the entity has no such attribute.
    package mutating func setValue(_ value: Value, for name: String) { if attributes[name] != nil { attributes[name] = value } }

    /// Replaces the objects that a relationship references, by its stored name. Does nothing if the entity has no such relationship.
    package mutating func setKeys(_ keys: [ObjectKey], for name: String) { if related[name] != nil { related[name] = keys } }

    /// Returns the value of an attribute by its stored name; nil if the entity has no such attribute.
    public func value(_ name: String) -> Value? { attributes[name] }

    /// Returns the objects that a relationship references, by its stored name; nil if the entity has no such relationship.
    public func objectIDs(_ name: String) -> [ObjectID<ManagedObject>]? { related[name].map { $0.map { ObjectID($0) } } }

    /// Returns all attributes by their stored names.
    public func dictionaryForValues() -> [String: Value] { attributes }

    /// The stored names of the relationships.
    var relationshipNames: Set<String> { Set(related.keys) }

    /// Returns whether a relationship references one object.
    func isToOne(_ name: String) -> Bool { single.contains(name) }

    /// Returns the stored names of the properties that differ in another snapshot of the object.
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

/// The encoded form by stored names: attributes, the URIs of the objects that relationships reference, and the object's own as `objectID`.
/// A to-many relationship is a list; a to-one relationship is the URI or nil.
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

extension ObjectSnapshot: ObjectRepresentation {}

extension BaseTransaction {
    /// Returns the present values of an object in the transaction, including uncommitted ones; nil if there is none.
    ///
    /// - Throws: The error of loading the object or its relationships.
    public func snapshot<Object: ManagedObject>(
        of representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> ObjectSnapshot<Object>? {
        guard let object = try fetchExisting(representation) else { return nil }
        return try reporting { () throws(StorageError) in
            try object._context.throwingFailures { ObjectSnapshot(object) }
        }
    }
}
