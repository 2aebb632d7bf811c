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
    ///   - preProcess: Can leave out or replace sources by their identities before anything is changed. It is called once; again for
    ///     identities that Swift's `==` calls equal to earlier ones although their bytes differ, because a dictionary cannot hold both.
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
        // Identities are told apart as stores do: two texts with other bytes are two, whatever Swift's == says of them. Sources stay where
        // they are, because generic elements are copied through tables of functions; of one identity the last counts.
        var sources = (sourceArray as? [Object.ImportSource]) ?? Array(sourceArray)
        var ids: [Object.UniqueIDType] = [], chosen: [Int] = [], places = ValuePlaces(capacity: sources.count)
        ids.reserveCapacity(sources.count)
        chosen.reserveCapacity(sources.count)
        for number in sources.indices {
            guard let id = try Object.uniqueID(from: sources[number], in: self) else { continue }
            let (place, isNew) = places.add(id.attributeValue)
            if isNew {
                ids.append(id)
                chosen.append(number)
            } else {
                chosen[place] = number
            }
        }
        var isLeftOut: [Bool] = []
        if let preProcess {
            isLeftOut = [Bool](repeating: false, count: ids.count)
            for mapping in Self.mappings(of: ids) {
                let kept = try preProcess(mapping.mapValues { sources[chosen[$0]] })
                for (id, place) in mapping {
                    if let source = kept[id] { sources[chosen[place]] = source } else { isLeftOut[place] = true }
                }
            }
        }
        var result: [UpsertedObject<Object>] = []
        result.reserveCapacity(ids.count)
        // What this transaction made before is in the stores then; the identities below are each looked up once, so that what the import
        // itself makes need not be.
        let context = try _fetchContext
        for start in stride(from: 0, to: ids.count, by: Self.lookUp) {
            let batch = start..<min(start + Self.lookUp, ids.count)
            var known = [ManagedObject?](repeating: nil, count: batch.count)
            for object in try objects(into, Array(places.values[batch]), context) {
                guard let place = places.find(object.uniqueIDValue.attributeValue), batch.contains(place) else { continue }
                if known[place - start] == nil { known[place - start] = object }
            }
            for place in batch where isLeftOut.isEmpty || !isLeftOut[place] {
                if let object = known[place - start] {
                    let object = unsafeDowncast(object, to: Object.self)
                    guard Object.shouldUpdate(from: sources[chosen[place]], in: self) else { continue }
                    try object.update(from: sources[chosen[place]], in: self)
                    result.append(UpsertedObject(object: object, isInserted: false))
                } else if Object.shouldInsert(from: sources[chosen[place]], in: self) {
                    let object = try create(into)
                    object.uniqueIDValue = ids[place]
                    try object.didInsert(from: sources[chosen[place]], in: self)
                    result.append(UpsertedObject(object: object, isInserted: true))
                }
            }
        }
        return result
    }

    /// The positions of identities, in as many dictionaries as it takes: each holds only one of those that Swift's `==` calls equal.
    private static func mappings<ID: Hashable>(of ids: [ID]) -> [[ID: Int]] {
        var mappings: [[ID: Int]] = [Dictionary(minimumCapacity: ids.count)]
        for (place, id) in ids.enumerated() {
            if let free = mappings.firstIndex(where: { $0[id] == nil }) { mappings[free][id] = place } else { mappings.append([id: place]) }
        }
        return mappings
    }

    /// So many identities are looked up at once: what a look-up brings is still in the caches of the processor when it is changed.
    private static var lookUp: Int { 8_000 }

    /// The objects that are there.
    private func objects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, _ ids: [Value], _ context: ObjectContext
    ) throws(StorageError) -> [Object] {
        let from: From<Object> = into.configuration.map { From($0) } ?? From()
        let condition = Where<Object>(.isIn(.path(PropertyPath(Object.uniqueIDKeyPath)), ids))
        return try reporting { () throws(StorageError) in try context.fetchAll(from.where(condition)) }
    }
}

/// An object that an import changed or made.
public struct UpsertedObject<Object: ManagedObject> {
    /// The object.
    public let object: Object
    /// Whether the import made it; otherwise it was there and was changed.
    public let isInserted: Bool
}
