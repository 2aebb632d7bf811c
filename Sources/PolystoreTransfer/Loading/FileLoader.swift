package import PolystoreStorage

/// Loads CSV and NDJSON files into a store, in one transaction.
///
/// Relationships can reference objects of the files, including later ones, and objects of the store. If the keys of objects of a file are
/// needed before their records are loaded, the file is read twice.
package final class FileLoader {
    let store: OpenStore
    let targets: [LoadTarget]
    let writer: WriteSession
    let schema: Schema
    private let isStrict: Bool
    let rejects: LoadRejects?
    let limit: WorkLimit?
    private let read: (String) throws -> FileBlocks
    let progress: (String, Int) -> Void
    var report = LoadReport()
    var lookups: [Lookup: LoadedKeys] = [:]
    /// The keys of the records of each file, by index, if they are known in advance.
    private var surveyed: [Int: ReservedKeys] = [:]
    /// The objects of the records of each file that identifies them, by index.
    private(set) var identified: [Int: IdentifiedRecords] = [:]
    var keys: [EntityIndex: [ReservedKeys]] = [:]
    var inverses = LoadInverses()
    var pairs = LoadPairs()
    var counts: LoadCounts
    /// The records whose values for an object count, where several records have some.
    var lastAssignments = LastAssignments()
    /// The first wrong number of members.
    var violation: StorageError?
    /// The new objects whose records the present pass has rejected.
    private var rejectedObjects: Set<LoadClaim.Object> = []

    /// The attributes by which objects of an entity are found.
    struct Lookup: Hashable {
        let entity: EntityIndex
        let slots: [Int]
    }

    /// The unresolved references of one relationship.
    struct Dangling {
        var unresolved = 0
        var unnamed = 0
        var values: Set<[Value]> = []
    }

    private init(
        _ store: OpenStore, _ writer: WriteSession, _ mapping: LoadMapping, isStrict: Bool, _ rejects: LoadRejects?, _ limit: WorkLimit?,
        _ read: @escaping (String) throws -> FileBlocks, _ progress: @escaping (String, Int) -> Void
    ) throws(StorageError) {
        self.store = store
        self.writer = writer
        self.isStrict = isStrict
        self.rejects = rejects
        self.limit = limit
        self.read = read
        self.progress = progress
        schema = writer.schema
        let nils = NilTexts(mapping.nil ?? [""])
        var targets: [LoadTarget] = []
        for (index, file) in mapping.files.enumerated() {
            targets.append(try LoadTarget(schema, file, at: index, nils: nils, ignoresUnknown: mapping.ignoresUnknown ?? false))
        }
        self.targets = targets
        counts = LoadCounts(schema, targets)
    }

    /// Loads the files of a mapping into an open store.
    ///
    /// - Parameters:
    ///   - isStrict: Whether unresolved references are refused.
    ///   - rejects: Receives the records that cannot be loaded, which are left out. Nil if such a record ends the load.
    ///   - limit: The limit after which the load has to give up.
    ///   - progress: Called from time to time with an entity and the number of its rows that were passed to the store.
    ///   - willCommit: Called before the commit, for example to write the rejected records. If it throws, nothing is loaded.
    ///   - read: Starts to read a file. Called twice for some files.
    /// - Throws: `valueNotStorable`, `validationFailed`, `uniqueConstraintViolated`, and other errors, which name the file, line, and
    ///   column; `validationFailed` for unresolved references if `isStrict` is true; `cancelled`. After an error nothing is written.
    package static func load(
        _ mapping: LoadMapping, into store: OpenStore, isStrict: Bool = false, rejects: LoadRejects? = nil, limit: WorkLimit? = nil,
        progress: @escaping (String, Int) -> Void = { _, _ in }, willCommit: () throws(StorageError) -> Void = {},
        read: @escaping (String) throws -> FileBlocks
    ) throws(StorageError) -> LoadReport {
        while true {
            rejects?.begin()
            // What updates objects is in the history, and then all that the load does, because half of it would say something else.
            let writer = try store.beginWrite(WriteOptions(bulk: mapping.files.contains { $0.on != nil } ? nil : .whole, limit: limit))
            defer { writer.end() }
            try Peers(writer).checkIsAlone()
            let loader = try FileLoader(store, writer, mapping, isStrict: isStrict, rejects, limit, read, progress)
            do throws(StorageError) {
                try loader.run()
                if loader.mustBeginAgain {
                    rejects?.endPass()
                    continue
                }
                if try rejects?.mustTry(RejectedSearch(loader).result) == true { continue }
                try loader.checkWhole()
                try willCommit()
                _ = try writer.commit(CommitRecord(author: "load"))
                return loader.report
            } catch {
                writer.end()
                let isFatal = error.code == .limitExceeded || error.code == .cancelled || error.isRetryable
                let search = DuplicateSearch(loader, error)
                if let rejects, !isFatal {
                    var isChanged = loader.mustBeginAgain
                    if !isChanged { isChanged = try search?.reject(rejects) == true }
                    if isChanged || rejects.isTrying {
                        rejects.endPass(isFailed: !isChanged)
                        continue
                    }
                }
                // The store knows neither the line nor the value. An error of the search is less relevant than the original error.
                throw (try? search?.find()) ?? error
            }
        }
    }

    /// Whether records that cannot be loaded are left out.
    var isRejecting: Bool { rejects != nil }

    /// Whether a record was rejected that others may have been related to.
    var mustBeginAgain: Bool { rejects?.isChanged == true }

    /// Whether nothing is written any more, because a record was rejected when it was read. After one that is refused later, what follows is
    /// written, so that all conflicts are found in one pass.
    var isVoid: Bool { rejects?.isVoid == true }

    /// Examines each record by itself, and rejects those that cannot be loaded.
    private func validate() throws(StorageError) {
        guard let rejects, !rejects.isValidated else { return }
        for target in targets {
            var records = try records(of: target), count = 0
            while let record = try records.next() {
                count += 1
                if count % 1024 == 0 { try limit?.check() }
                _ = try accepting(record, target) { () throws(StorageError) in try target.validate(record) }
            }
        }
        rejects.isValidated = true
        rejects.acceptChanges()
    }

    /// Processes a record. Returns false if it was rejected.
    func accepting(_ record: LoadRecord, _ target: LoadTarget, _ body: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try body()
            return true
        } catch {
            guard let rejects else { throw error }
            try rejects.add(record, ofFile: target.index, error)
            return false
        }
    }

    private func run() throws(StorageError) {
        try checkEnds()
        try validate()
        let identities = targets.compactMap { target in target.on.map { Lookup(entity: target.entity, slots: $0) } }
        for lookup in targets.flatMap(\.searches).map(\.lookup) + identities where lookups[lookup] == nil {
            let isUpdated = identities.contains { schema[$0.entity].root == schema[lookup.entity].root }
            let found = LoadedKeys(lookup.entity, lookup.slots, isUpdated: isUpdated)
            try found.addStored(writer)
            lookups[lookup] = found
        }
        for index in targets.indices { try survey(index) }
        // What was rejected until here has no key, so nothing refers to it.
        rejects?.acceptChanges()
        try findLastAssignments()
        // An object of an earlier file may get what an object of a later one has.
        for (index, records) in identified.sorted(by: { $0.key < $1.key }) {
            let target = targets[index], earlier = targets[..<index]
            if earlier.contains(where: { $0.description.root == target.description.root }) { try setUniqueValuesFree(target, records) }
        }
        for index in targets.indices {
            if let records = identified[index] { try update(targets[index], records) } else { try load(index) }
        }
        if mustBeginAgain { return }
        try refuse(inverses.writePartners(writer, limit))
        if mustBeginAgain { return }
        try checkCounts()
    }

    /// Passes each record of a file with its position and its object to `body`, if the objects are known.
    func forEachRecord(
        of target: LoadTarget, _ body: (LoadRecord, _ position: Int, LoadClaim.Object) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let keys = objectKeys(ofFile: target.index) else { return }
        var records = try records(of: target), next = keys.makeIterator(), position = 0
        while let record = try records.next() {
            guard let key = next.next() else { throw Self.changed(target) }
            try body(record, position, LoadClaim.Object(root: target.description.root, key: key))
            position += 1
            if position % 1024 == 0 { try limit?.check() }
        }
    }

    /// The keys of the objects of the records of a file; nil if they are not known yet.
    func objectKeys(ofFile index: Int) -> AnySequence<Int64>? {
        identified[index].map { AnySequence($0.keys) } ?? surveyed[index].map { AnySequence($0.taken) }
    }

    /// Refuses what concerns no single record: wrong numbers of members, and unresolved references if these are not permitted.
    private func checkWhole() throws(StorageError) {
        if let violation { throw violation }
        guard isStrict, let first = report.dangling.first(where: { $0.unresolved > 0 }) else { return }
        let failures = report.dangling.filter { $0.unresolved > 0 }.map {
            ValidationFailure($0.relationship, "has \($0.unresolved) references to missing objects")
        }
        throw StorageError(
            .validationFailed, "\(first.unresolved) references of \(first.relationship) refer to missing objects; nothing was loaded",
            details: .init(failures: failures))
    }

    /// Refuses the records of claims that contradict the store or other records.
    private func refuse(_ claims: [LoadClaim]) throws(StorageError) {
        if claims.isEmpty { return }
        let rejected = LoadClaim.rejected(claims) { object in keys[object.root]?.contains { $0.contains(object.key) } ?? false }
        for claim in rejected {
            guard let rejects else {
                throw StorageError(claim.error.code, claim.error.message + "; nothing was loaded", details: claim.error.details)
            }
            rejects.refuse(claim.record, claim.error)
        }
    }

    /// Refuses a record whose values cannot be written after it was accepted.
    func refusing(_ record: LoadRecord, _ target: LoadTarget, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) { try body() } catch {
            guard let rejects, LoadRejects.concernsRecord(error) else { throw error }
            rejects.refuse(target.place(of: record), error)
        }
    }

    /// Refuses a mapping that fills both ends of a one-to-one relationship, because they could contradict each other.
    private func checkEnds() throws(StorageError) {
        for target in targets where !target.file.hasObjects {
            for reference in target.references {
                guard case .slot(let slot) = reference.inverse, let name = reference.inverseName else { continue }
                let isSelf = name == reference.name && schema[reference.destination].root == target.description.root
                let other = targets.first { other in
                    schema[reference.destination].family.contains(other.entity) && other.references.contains { $0.slot == slot }
                }
                guard let other, !isSelf || other.entity != target.entity else { continue }
                throw StorageError(
                    .invalidConfiguration,
                    "\(target.file.file.excerpt()): \(target.description.name).\(reference.name) is the inverse of \(other.description.name).\(name); map columns to only one of the two"
                )
            }
        }
    }

    /// Returns the records of a file.
    func records(of target: LoadTarget) throws(StorageError) -> AcceptedRecords {
        let name = target.file.file
        let blocks: FileBlocks
        do { blocks = try read(name) } catch let error as StorageError { throw error } catch {
            throw StorageError(.notFound, "the file \(name.excerpt()) cannot be read", cause: error)
        }
        var bytes = try ByteReader(blocks, name)
        let format = try RecordFormat(name, &bytes), records = try format.records(bytes, name)
        if let columns = records.columns { try target.check(columns: columns) }
        rejects?.setForm(format.form(records.columns), ofFile: target.index)
        return AcceptedRecords(records, ofFile: target.index, rejects, of: target.file.hasObjects ? target.file.entity : nil)
    }

    /// Returns the values that a record assigns to some slots of an object. A reference is a primary key.
    func values(of record: LoadRecord, _ target: LoadTarget, _ slots: [Int]) throws(StorageError) -> [Value] {
        var values: [Value] = []
        for slot in slots {
            if let reference = target.references.first(where: { $0.slot == slot }) {
                guard let name = try target.values(record, reference.search),
                    case .one(let key)? = lookups[reference.search.lookup]?.find(name)
                else {
                    values.append(.null)
                    continue
                }
                values.append(.int(key))
            } else {
                values.append(try target.value(record, slot: slot))
            }
        }
        return values
    }

    /// Returns the lookup tables that index records of a file.
    func lookups(for target: LoadTarget) -> [LoadedKeys] {
        lookups.values.filter { schema[$0.entity].family.contains(target.entity) }
    }

    /// Reserves the keys of the records that other records reference.
    private func survey(_ index: Int) throws(StorageError) {
        let target = targets[index], wanted = lookups(for: target)
        if wanted.isEmpty { return }
        if target.on != nil {
            identified[index] = try identify(target)
            return
        }
        var records = try records(of: target), keys = ReservedKeys(), count = 0
        while let record = try records.next() {
            count += 1
            if count % 1024 == 0 { try limit?.check() }
            var found: [[Value]] = []
            for lookup in wanted { found.append(lookup.isByKey ? [] : try values(of: record, target, lookup.slots)) }
            // Otherwise all records that refer to the values would be ambiguous.
            let isUnique = try accepting(record, target) { () throws(StorageError) in
                if !isRejecting { return }
                for (lookup, values) in zip(wanted, found) { try checkIsNew(record, target, values, lookup, keys) }
            }
            if !isUnique { continue }
            guard let key = try self.key(of: record, target, &keys) else { continue }
            for (lookup, values) in zip(wanted, found) { lookup.add(values, key) }
        }
        surveyed[index] = keys
    }

    /// Returns the key of the new object of a record: a reserved one, or the one that the record has; nil if the record was rejected.
    private func key(of record: LoadRecord, _ target: LoadTarget, _ keys: inout ReservedKeys) throws(StorageError) -> Int64? {
        if !target.file.hasObjects { return try keys.take(target.entity, writer) }
        var found: Int64?
        let isAccepted = try accepting(record, target) { () throws(StorageError) in
            let key = try target.key(record), present = RowBatch(capacity: 1)
            try writer.rows(target.entity, keys: [key], into: present)
            if present.count > 0 || !keys.add(key) {
                throw target.refusal(record, keyIsStored: present.count > 0)
            }
            found = key
        }
        return isAccepted ? found : nil
    }

    /// Refuses a record whose unique values an earlier one or an object of the store has.
    private func checkIsNew(
        _ record: LoadRecord, _ target: LoadTarget, _ values: [Value], _ lookup: LoadedKeys, _ keys: ReservedKeys
    ) throws(StorageError) {
        if lookup.isByKey { return }
        let isConstrained = target.description.uniqueConstraints.contains {
            Set($0.slots) == Set(lookup.slots) && Set(schema[$0.declaredIn].family).isSuperset(of: schema[lookup.entity].family)
        }
        if !isConstrained || lookup.isUpdated || values.contains(where: \.isNull) { return }
        guard case .one(let key) = lookup.find(values) else { return }
        let isEarlier = keys.contains(key) || surveyed.values.contains { $0.contains(key) }
        throw DuplicateSearch.error(
            record, target, lookup.slots, values, isEarlier ? DuplicateSearch.earlier : DuplicateSearch.stored, isRejecting: true)
    }

    private func load(_ index: Int) throws(StorageError) {
        let target = targets[index], entity = target.entity, wanted = lookups(for: target)
        var records = try records(of: target)
        var known = surveyed[index].map { $0.taken.makeIterator() }, reserved = surveyed[index] ?? ReservedKeys()
        var dangling = [Dangling](repeating: Dangling(), count: target.searches.count)
        let batch = RowBatch(capacity: 1024)
        var count = 0, position = -1
        while let record = try records.next() {
            position += 1
            let key: Int64
            if known != nil {
                guard let next = known?.next() else { throw Self.changed(target) }
                key = next
            } else {
                guard let next = try self.key(of: record, target, &reserved) else { continue }
                key = next
            }
            let isAccepted = try accepting(record, target) { () throws(StorageError) in
                try target.check(record)
                try append(record, at: position, key, target, &dangling, batch)
                try addMembers(record, at: count, key, target, &dangling)
            }
            if !isAccepted { continue }
            if known != nil { try check(record, target, key, wanted) }
            count += 1
            if batch.isFull || batch.copiedBytes > 8 << 20 {
                try flush(batch, entity)
                try flushMembers()
                progress(target.file.entity, count)
            }
        }
        if known?.next() != nil { throw Self.changed(target) }
        try flush(batch, entity)
        try flushMembers()
        keys[target.description.root, default: []].append(reserved)
        surveyed[index] = reserved
        report.loaded.append(LoadReport.Loaded(entity: target.file.entity, count: count))
        note(dangling, target)
    }

    /// Adds the unresolved references of a file to the report.
    func note(_ dangling: [Dangling], _ target: LoadTarget) {
        for (reference, found) in zip(target.searches, dangling) {
            report.dangling.append(
                LoadReport.Dangling(
                    relationship: "\(target.file.entity).\(reference.name)", unresolved: found.unresolved, distinct: found.values.count,
                    unnamed: found.unnamed))
        }
    }

    /// Appends the new object of a record to a batch.
    ///
    /// - Parameter index: The position of the record in its file.
    func append(
        _ record: LoadRecord, at index: Int, _ key: Int64, _ target: LoadTarget, _ dangling: inout [Dangling], _ batch: RowBatch
    ) throws(StorageError) {
        let object = LoadClaim.Object(root: target.description.root, key: key)
        do throws(StorageError) {
            let cells = batch.appendRow(key: key, version: 1, entity: target.entity, slots: target.description.slots.count)
            cells.initialize(repeating: .null, count: target.description.slots.count)
            for slot in target.description.slots.indices {
                let value = try target.value(record, slot: slot)
                if lastAssignments.counts(object, slot, target, index) { cells[slot] = batch.cell(for: value) }
            }
            for (position, reference) in target.references.enumerated() {
                let found = try destination(record, target, reference.search, &dangling[position])
                guard let found, lastAssignments.counts(object, reference.slot, target, index) else { continue }
                cells[reference.slot] = .int(found)
                try connect(reference, key, found, record, target)
            }
        } catch {
            rejectedObjects.insert(object)
            throw error
        }
    }

    static func changed(_ target: LoadTarget) -> StorageError {
        StorageError(.inputOutput, "the file \(target.file.file.excerpt()) was changed during the load; nothing was loaded")
    }

    /// Refuses a record that differs from the one whose key other records reference.
    private func check(_ record: LoadRecord, _ target: LoadTarget, _ key: Int64, _ wanted: [LoadedKeys]) throws(StorageError) {
        // Objects that another file updates are found by other values then.
        for lookup in wanted where !lookup.isUpdated && !lookup.isByKey {
            let values = try values(of: record, target, lookup.slots)
            if values.contains(where: \.isNull) { continue }
            switch lookup.find(values) {
            case .one(key), .several: continue
            case .one, .nothing: throw Self.changed(target)
            }
        }
    }

    /// Returns the primary key of the object that a reference of a record resolves to.
    func destination(
        _ record: LoadRecord, _ target: LoadTarget, _ search: LoadSearch, _ dangling: inout Dangling
    ) throws(StorageError) -> Int64? {
        if let values = try target.values(record, search) { return try resolve(values, record, target, search, &dangling) }
        dangling.unnamed += 1
        if !search.isRequired { return nil }
        throw target.refusal(record, unnamed: search)
    }

    /// Returns the primary key of the object with the given values.
    private func resolve(
        _ values: [Value], _ record: LoadRecord, _ target: LoadTarget, _ search: LoadSearch, _ dangling: inout Dangling
    ) throws(StorageError) -> Int64? {
        var found = lookups[search.lookup]?.find(values) ?? .nothing
        if search.isRequired, case .one(let key) = found, !rejectedObjects.isEmpty {
            let object = LoadClaim.Object(root: schema[search.destination].root, key: key)
            if rejectedObjects.contains(object) { found = .nothing }
        }
        switch found {
        case .one(let key): return key
        case .several: throw target.refusal(record, ambiguous: search, schema)
        case .nothing:
            dangling.unresolved += 1
            dangling.values.insert(values)
            if !search.isRequired { return nil }
            throw target.refusal(record, unresolved: search, schema)
        }
    }

    /// Adds the members that a record names to the to-many relationships of its object.
    func addMembers(
        _ record: LoadRecord, at index: Int, _ key: Int64, _ target: LoadTarget, _ dangling: inout [Dangling]
    ) throws(StorageError) {
        for (offset, members) in target.members.enumerated() {
            for values in try target.values(record, members) {
                let position = target.references.count + offset
                guard let found = try resolve(values, record, target, members.search, &dangling[position]) else { continue }
                pairs.add(members, of: key, found, index)
                counts.add(members.search.name, of: target.entity, key)
                if let inverse = members.inverseName { counts.add(inverse, of: members.search.destination, found) }
            }
        }
    }

    /// Records the other end of a reference.
    func connect(
        _ reference: LoadReference, _ key: Int64, _ destination: Int64, _ record: LoadRecord, _ target: LoadTarget
    ) throws(StorageError) {
        if let inverse = reference.inverseName { counts.add(inverse, of: reference.destination, destination) }
        let hasStored = lookups[reference.search.lookup]?.hasStored ?? true
        let other = try inverses.add(
            reference, from: key, to: destination, hasStored: hasStored, target.place(of: record), ofFile: target.file.file, writer)
        guard let other else { return }
        // The reference of a record that is left out does not count, and the next pass is without it.
        if rejects?.isLeftOut(other) == true { return }
        throw target.refusal(record, taken: reference)
    }

    func flush(_ batch: RowBatch, _ entity: EntityIndex) throws(StorageError) {
        try limit?.check()
        if isVoid { return batch.clear() }
        if isRecorded, batch.count > 0 {
            let slots = schema[entity].slots.count
            let rows = RowSource(count: batch.count) { range, copy in
                for index in range { copy.append(copying: batch.row(index), slots: slots) }
            }
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: entity, inserts: rows)]))
        } else if batch.count > 0 {
            try writer.load(entity, batch)
        }
        batch.clear()
        try inverses.flush(writer, isRecorded: isRecorded)
    }

    /// Writes the pending members. Returns the positions of the records that have added some.
    @discardableResult
    func flushMembers() throws(StorageError) -> Set<Int> { isVoid ? [] : try pairs.flush(writer, isRecorded: isRecorded) }

    /// Whether the history records the load.
    var isRecorded: Bool { targets.contains { $0.on != nil } }
}
