internal import PolystoreStorage

extension BaseTransaction {
    /// Creates an object from a source; returns nil if the class rejects the source.
    @discardableResult
    public func importObject<Object: ImportableObject>(_ into: Into<Object>, source: Object.ImportSource) throws -> Object? {
        guard Object.shouldInsert(from: source, in: self) else { return nil }
        let object = try create(into)
        try object.didInsert(from: source, in: self)
        return object
    }

    /// Creates objects from sources, in their order, without the sources that the class rejects.
    @discardableResult
    public func importObjects<Object: ImportableObject>(
        _ into: Into<Object>, sourceArray: some Sequence<Object.ImportSource>
    ) throws -> [Object] {
        var objects: [Object] = []
        for source in sourceArray { if let object = try importObject(into, source: source) { objects.append(object) } }
        return objects
    }

    /// Updates the object that a source identifies, or creates it. Returns nil if the source has no identity or the class rejects it.
    @discardableResult
    public func importUniqueObject<Object: ImportableUniqueObject>(
        _ into: Into<Object>, source: Object.ImportSource
    ) throws -> Object? {
        try importUniqueObjects(into, sourceArray: CollectionOfOne(source)).first
    }

    /// Updates or creates the objects that sources identify, with one lookup for all of them.
    ///
    /// - Parameters:
    ///   - into: The class, and the store for new objects if several hold its entity.
    ///   - sourceArray: The sources. Of several sources with one identity the last is used, in the position of the first.
    ///   - preProcess: A closure that can remove or replace sources, by their identities, before anything is changed. It is called once,
    ///     and again for identities that Swift's `==` considers equal to earlier ones although their bytes differ, because a dictionary
    ///     cannot contain both.
    /// - Returns: The objects in the order of the sources.
    @discardableResult
    public func importUniqueObjects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, sourceArray: some Sequence<Object.ImportSource>,
        preProcess: ((_ mapping: [Object.UniqueIDType: Object.ImportSource]) throws -> [Object.UniqueIDType: Object.ImportSource])? = nil
    ) throws -> [Object] {
        try upsertObjects(into, sourceArray: sourceArray, preProcess: preProcess).map(\.object)
    }

    /// Works like `importUniqueObjects`, and reports for each object whether it was created.
    @discardableResult
    public func upsertObjects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, sourceArray: some Sequence<Object.ImportSource>,
        preProcess: ((_ mapping: [Object.UniqueIDType: Object.ImportSource]) throws -> [Object.UniqueIDType: Object.ImportSource])? = nil
    ) throws -> [UpsertedObject<Object>] {
        // Identities are distinguished as in stores: two texts with different bytes are different, regardless of Swift's ==. Sources are
        // not moved, because copying generic elements uses witness tables. Of several sources with one identity the last is used.
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
        // The previous changes of this transaction are in the stores at this point. Each identity below is looked up once, so that objects
        // created by the import itself need not be written for that.
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

    /// Returns the positions of identities, in as many dictionaries as required: each contains only one of several identities that Swift's
    /// `==` considers equal.
    private static func mappings<ID: Hashable>(of ids: [ID]) -> [[ID: Int]] {
        var mappings: [[ID: Int]] = [Dictionary(minimumCapacity: ids.count)]
        for (place, id) in ids.enumerated() {
            if let free = mappings.firstIndex(where: { $0[id] == nil }) { mappings[free][id] = place } else { mappings.append([id: place]) }
        }
        return mappings
    }

    /// The number of identities per lookup, chosen so that its results are still in the processor's caches when they are changed.
    private static var lookUp: Int { 8_000 }

    /// Returns the existing objects.
    private func objects<Object: ImportableUniqueObject>(
        _ into: Into<Object>, _ ids: [Value], _ context: ObjectContext
    ) throws(StorageError) -> [Object] {
        let from: From<Object> = into.place.map { From($0) } ?? From()
        let condition = Where<Object>(.isIn(.path(PropertyPath(Object.uniqueIDKeyPath)), ids))
        return try reporting { () throws(StorageError) in try context.fetchAll(from.where(condition)) }
    }
}
