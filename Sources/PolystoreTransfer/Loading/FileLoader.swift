package import PolystoreStorage

/// Loads CSV and NDJSON files into a store, in one transaction.
///
/// Relationships can reference objects of the files, including later ones, and objects of the store. If the keys of objects of a file are
/// needed before their records are loaded, the file is read twice.
package final class FileLoader {
    let store: OpenStore
    let targets: [LoadTarget]
    private let writer: WriteSession
    private let schema: Schema
    private let isStrict: Bool
    private let limit: WorkLimit?
    private let read: (String) throws -> FileBlocks
    private let progress: (String, Int) -> Void
    private var report = LoadReport()
    private var lookups: [Lookup: LoadedKeys] = [:]
    /// The keys of the records of each file, by index, if they are known in advance.
    private var surveyed: [Int: ReservedKeys] = [:]
    private var keys: [EntityIndex: [ReservedKeys]] = [:]
    private var inverses = LoadInverses()
    private var counts: LoadCounts

    private struct Lookup: Hashable {
        let entity: EntityIndex
        let slots: [Int]

        init(_ reference: LoadReference) {
            entity = reference.destination
            slots = reference.parts.map(\.slot)
        }
    }

    /// The unresolved references of one relationship.
    private struct Dangling {
        var unresolved = 0
        var unnamed = 0
        var values: Set<[Value]> = []
    }

    private init(
        _ store: OpenStore, _ writer: WriteSession, _ mapping: LoadMapping, isStrict: Bool, _ limit: WorkLimit?,
        _ read: @escaping (String) throws -> FileBlocks, _ progress: @escaping (String, Int) -> Void
    ) throws(StorageError) {
        self.store = store
        self.writer = writer
        self.isStrict = isStrict
        self.limit = limit
        self.read = read
        self.progress = progress
        schema = writer.schema
        let nils = Set((mapping.nil ?? [""]).map(ExactText.init))
        var targets: [LoadTarget] = []
        for file in mapping.files {
            targets.append(try LoadTarget(schema, file, nils: nils, ignoresUnknown: mapping.ignoresUnknown ?? false))
        }
        self.targets = targets
        counts = LoadCounts(schema, targets)
    }

    /// Loads the files of a mapping into an open store.
    ///
    /// - Parameters:
    ///   - isStrict: Whether unresolved references are refused.
    ///   - limit: The limit after which the load has to give up.
    ///   - progress: Called from time to time with an entity and the number of its rows that were passed to the store.
    ///   - read: Starts to read a file. Called twice for some files.
    /// - Throws: `valueNotStorable`, `validationFailed`, `uniqueConstraintViolated`, and other errors, which name the file, line, and
    ///   column; `validationFailed` for unresolved references if `isStrict` is true; `cancelled`. After an error nothing is written.
    package static func load(
        _ mapping: LoadMapping, into store: OpenStore, isStrict: Bool = false, limit: WorkLimit? = nil,
        progress: @escaping (String, Int) -> Void = { _, _ in }, read: @escaping (String) throws -> FileBlocks
    ) throws(StorageError) -> LoadReport {
        let writer = try store.beginWrite(WriteOptions(isBulk: true, limit: limit))
        defer { writer.end() }
        try Peers(writer).checkIsAlone()
        let loader = try FileLoader(store, writer, mapping, isStrict: isStrict, limit, read, progress)
        do throws(StorageError) {
            try loader.run()
            _ = try writer.commit(CommitRecord(author: "load"))
        } catch {
            writer.end()
            // The store knows neither the line nor the value. An error of the search is less relevant than the original error.
            throw (try? DuplicateSearch(loader, error)?.find()) ?? error
        }
        return loader.report
    }

    private func run() throws(StorageError) {
        try checkEnds()
        for reference in targets.flatMap(\.references) where lookups[Lookup(reference)] == nil {
            let found = LoadedKeys(reference.destination, reference.parts.map(\.slot))
            try found.addStored(writer)
            lookups[Lookup(reference)] = found
        }
        for index in targets.indices { try survey(index) }
        for index in targets.indices { try load(index) }
        try inverses.writePartners(writer, limit)
        try counts.check(writer) { root, key in keys[root]?.contains { $0.contains(key) } ?? false }
        guard isStrict, let first = report.dangling.first(where: { $0.unresolved > 0 }) else { return }
        let failures = report.dangling.filter { $0.unresolved > 0 }.map {
            ValidationFailure($0.relationship, "has \($0.unresolved) references to missing objects")
        }
        throw StorageError(
            .validationFailed, "\(first.unresolved) references of \(first.relationship) refer to missing objects; nothing was loaded",
            details: .init(failures: failures))
    }

    /// Refuses a mapping that fills both ends of a one-to-one relationship, because they could contradict each other.
    private func checkEnds() throws(StorageError) {
        for target in targets {
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
    func records(of target: LoadTarget) throws(StorageError) -> any RecordReader {
        let name = target.file.file
        let blocks: FileBlocks
        do { blocks = try read(name) } catch let error as StorageError { throw error } catch {
            throw StorageError(.notFound, "the file \(name.excerpt()) cannot be read", cause: error)
        }
        var bytes = try ByteReader(blocks, name)
        let records = try RecordFormat(name, &bytes).records(bytes, name)
        if let columns = records.columns { try target.check(columns: columns) }
        return records
    }

    /// Returns the values that a record assigns to some slots of an object. A reference is a primary key.
    func values(of record: LoadRecord, _ target: LoadTarget, _ slots: [Int]) throws(StorageError) -> [Value] {
        var values: [Value] = []
        for slot in slots {
            if let reference = target.references.first(where: { $0.slot == slot }) {
                guard let name = try target.values(record, reference), case .one(let key)? = lookups[Lookup(reference)]?.find(name) else {
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
    private func lookups(for target: LoadTarget) -> [LoadedKeys] {
        lookups.values.filter { schema[$0.entity].family.contains(target.entity) }
    }

    /// Reserves the keys of the records that other records reference.
    private func survey(_ index: Int) throws(StorageError) {
        let target = targets[index], wanted = lookups(for: target)
        if wanted.isEmpty { return }
        var records = try records(of: target), keys = ReservedKeys(), count = 0
        while let record = try records.next() {
            count += 1
            if count % 1024 == 0 { try limit?.check() }
            let key = try keys.take(target.entity, writer)
            for lookup in wanted {
                let values = try values(of: record, target, lookup.slots)
                if !values.contains(where: \.isNull) { lookup.add(values, key) }
            }
        }
        surveyed[index] = keys
    }

    private func load(_ index: Int) throws(StorageError) {
        let target = targets[index], entity = target.entity, wanted = lookups(for: target)
        var records = try records(of: target)
        var known = surveyed[index].map { $0.taken.makeIterator() }, reserved = surveyed[index] ?? ReservedKeys()
        var dangling = [Dangling](repeating: Dangling(), count: target.references.count)
        let batch = RowBatch(capacity: 1024)
        var count = 0
        while let record = try records.next() {
            guard let key = try known == nil ? reserved.take(entity, writer) : known?.next() else { throw Self.changed(target) }
            try target.check(record)
            let cells = batch.appendRow(key: key, version: 1, entity: entity, slots: target.description.slots.count)
            cells.initialize(repeating: .null, count: target.description.slots.count)
            for slot in target.description.slots.indices { cells[slot] = batch.cell(for: try target.value(record, slot: slot)) }
            for (position, reference) in target.references.enumerated() {
                if let found = try destination(record, target, reference, &dangling[position]) {
                    cells[reference.slot] = .int(found)
                    try connect(reference, key, found, record, target)
                }
            }
            if known != nil { try check(record, target, key, wanted) }
            count += 1
            if batch.isFull || batch.copiedBytes > 8 << 20 {
                try flush(batch, entity)
                progress(target.file.entity, count)
            }
        }
        if known?.next() != nil { throw Self.changed(target) }
        try flush(batch, entity)
        keys[target.description.root, default: []].append(reserved)
        report.loaded.append((target.file.entity, count))
        for (reference, found) in zip(target.references, dangling) {
            report.dangling.append(
                LoadReport.Dangling(
                    relationship: "\(target.file.entity).\(reference.name)", unresolved: found.unresolved, distinct: found.values.count,
                    unnamed: found.unnamed))
        }
    }

    private static func changed(_ target: LoadTarget) -> StorageError {
        StorageError(.inputOutput, "the file \(target.file.file.excerpt()) was changed during the load; nothing was loaded")
    }

    /// Refuses a record that differs from the one whose key other records reference.
    private func check(_ record: LoadRecord, _ target: LoadTarget, _ key: Int64, _ wanted: [LoadedKeys]) throws(StorageError) {
        for lookup in wanted {
            let values = try values(of: record, target, lookup.slots)
            if values.contains(where: \.isNull) { continue }
            switch lookup.find(values) {
            case .one(key), .several: continue
            case .one, .nothing: throw Self.changed(target)
            }
        }
    }

    /// Returns the primary key of the object that a reference of a record resolves to.
    private func destination(
        _ record: LoadRecord, _ target: LoadTarget, _ reference: LoadReference, _ dangling: inout Dangling
    ) throws(StorageError) -> Int64? {
        let name = "\(target.description.name).\(reference.name)", column = reference.parts[0].column
        guard let values = try target.values(record, reference) else {
            dangling.unnamed += 1
            if !reference.isRequired { return nil }
            throw target.refusal(
                record, column, reference.name, "\(name) is required, but the column is nil", .validationFailed)
        }
        switch lookups[Lookup(reference)]?.find(values) ?? .nothing {
        case .one(let key): return key
        case .several:
            throw target.refusal(
                record, column, reference.name,
                "\(name) is ambiguous: several objects of \(schema[reference.destination].name) have these values",
                .validationFailed)
        case .nothing:
            dangling.unresolved += 1
            dangling.values.insert(values)
            if !reference.isRequired { return nil }
            throw target.refusal(
                record, column, reference.name,
                "\(name) is required, but no object of \(schema[reference.destination].name) has these values", .validationFailed)
        }
    }

    /// Records the other end of a reference.
    private func connect(
        _ reference: LoadReference, _ key: Int64, _ destination: Int64, _ record: LoadRecord, _ target: LoadTarget
    ) throws(StorageError) {
        counts.add(reference, to: destination)
        let hasStored = lookups[Lookup(reference)]?.hasStored ?? true
        if try inverses.add(reference, from: key, to: destination, hasStored: hasStored, writer) { return }
        throw target.refusal(
            record, reference.parts[0].column, reference.name,
            "\(target.description.name).\(reference.name) refers to an object that another object already refers to", .validationFailed)
    }

    private func flush(_ batch: RowBatch, _ entity: EntityIndex) throws(StorageError) {
        try limit?.check()
        if batch.count > 0 { try writer.load(entity, batch) }
        batch.clear()
        try inverses.flush(writer)
    }
}
