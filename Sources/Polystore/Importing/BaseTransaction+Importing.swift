internal import PolystoreStorage

extension BaseTransaction {
    /// Makes an object from a source; nil when the class does not want it.
    @discardableResult
    public func importObject<Object: ImportableObject>(_ into: Into<Object>, source: Object.ImportSource) throws -> Object? {
        guard Object.shouldInsert(from: source, in: self) else { return nil }
        let object = try create(into)
        try object.didInsert(from: source, in: self)
        return object
    }

    /// Makes objects from sources, in their order, without those that the class does not want.
    @discardableResult
    public func importObjects<Object: ImportableObject>(
        _ into: Into<Object>, sourceArray: some Sequence<Object.ImportSource>
    ) throws -> [Object] {
        var objects: [Object] = []
        for source in sourceArray { if let object = try importObject(into, source: source) { objects.append(object) } }
        return objects
    }

    /// Changes the object that a source names, or makes it; nil when the source names none or the class does not want it.
    @discardableResult
    public func importUniqueObject<Object: ImportableUniqueObject>(
        _ into: Into<Object>, source: Object.ImportSource
    ) throws -> Object? {
        try importUniqueObjects(into, sourceArray: CollectionOfOne(source)).first
    }

    /// Changes or makes the objects that sources name, with one look-up for all of them.
    ///
    /// - Parameters:
    ///   - into: The class, and the store of new objects where several hold its entity.
    ///   - sourceArray: The sources. Of those that name one object the last counts, in the place of the first.
    ///   - preProcess: Can leave out or replace sources by their identities before anything is changed.
    /// - Returns: The objects in the order of the sources.
    @discardableResult
    public func importUniqueObjects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, sourceArray: some Sequence<Object.ImportSource>,
        preProcess: ((_ mapping: [Object.UniqueIDType: Object.ImportSource]) throws -> [Object.UniqueIDType: Object.ImportSource])? = nil
    ) throws -> [Object] {
        try upsertObjects(into, sourceArray: sourceArray, preProcess: preProcess).map(\.object)
    }

    /// As `importUniqueObjects`, and says of each object whether it was made.
    @discardableResult
    public func upsertObjects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, sourceArray: some Sequence<Object.ImportSource>,
        preProcess: ((_ mapping: [Object.UniqueIDType: Object.ImportSource]) throws -> [Object.UniqueIDType: Object.ImportSource])? = nil
    ) throws -> [UpsertedObject<Object>] {
        // Identities are told apart as stores do: two texts with other bytes are two, whatever Swift's == says of them.
        var ids: [Object.UniqueIDType] = [], sources: [Value: Object.ImportSource] = [:]
        for source in sourceArray {
            guard let id = try Object.uniqueID(from: source, in: self) else { continue }
            if sources.updateValue(source, forKey: id.attributeValue) == nil { ids.append(id) }
        }
        if let preProcess {
            var mapping: [Object.UniqueIDType: Object.ImportSource] = [:]
            for id in ids { mapping[id] = sources[id.attributeValue] }
            let kept = try preProcess(mapping)
            ids.removeAll { kept[$0] == nil }
            for id in ids { sources[id.attributeValue] = kept[id] }
        }
        var known = try objects(into, ids)
        var result: [UpsertedObject<Object>] = []
        for id in ids {
            let key = id.attributeValue
            guard let source = sources[key] else { continue }
            if let object = known[key] {
                guard Object.shouldUpdate(from: source, in: self) else { continue }
                try object.update(from: source, in: self)
                result.append(UpsertedObject(object: object, isInserted: false))
            } else if Object.shouldInsert(from: source, in: self) {
                let object = try create(into)
                object.uniqueIDValue = id
                known[key] = object
                try object.didInsert(from: source, in: self)
                result.append(UpsertedObject(object: object, isInserted: true))
            }
        }
        return result
    }

    /// The objects that are there, by identity.
    private func objects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, _ ids: [Object.UniqueIDType]
    ) throws(StorageError) -> [Value: Object] {
        if ids.isEmpty { return [:] }
        let from: From<Object> = into.configuration.map { From($0) } ?? From()
        let condition = Where<Object>(.isIn(PropertyPath(Object.uniqueIDKeyPath), ids.map(\.attributeValue)))
        return Dictionary(try fetchAll(from.where(condition)).map { ($0.uniqueIDValue.attributeValue, $0) }) { first, _ in first }
    }
}

/// An object that an import changed or made.
public struct UpsertedObject<Object: ManagedObject> {
    /// The object.
    public let object: Object
    /// Whether the import made it; otherwise it was there and was changed.
    public let isInserted: Bool
}
