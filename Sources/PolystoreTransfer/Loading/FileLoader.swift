public import Foundation
public import PolystoreStorage

/// Loads CSV and NDJSON files into a store, in one transaction.
public final class FileLoader {
    private let writer: WriteSession
    private var schema: Schema { writer.schema }
    private let nils: Set<String>
    private let ignoresUnknown: Bool
    private let isStrict: Bool
    private let read: (String) throws -> Data
    private let progress: (String, Int) -> Void
    private var report = LoadReport()
    /// Keys of loaded rows by the texts of some of their attributes: what relationships are found by.
    private var lookups: [Lookup: [[String]: Int64]] = [:]
    private var wanted: [EntityIndex: [[String]]] = [:]

    private struct Lookup: Hashable {
        let entity: EntityIndex
        let attributes: [String]
    }

    private init(
        _ writer: WriteSession, _ mapping: LoadMapping, isStrict: Bool, _ read: @escaping (String) throws -> Data,
        _ progress: @escaping (String, Int) -> Void
    ) {
        self.writer = writer
        self.isStrict = isStrict
        self.read = read
        self.progress = progress
        nils = Set(mapping.nil ?? ["NA", ""])
        ignoresUnknown = mapping.ignoresUnknown ?? false
    }

    /// Loads the files of a mapping into an open store.
    ///
    /// - Parameters:
    ///   - isStrict: Whether a reference that leads nowhere is refused.
    ///   - progress: Called from time to time with an entity and the number of its rows that were handed to the store.
    ///   - read: Gives the contents of a file.
    /// - Throws: `valueNotStorable` and others naming file, line and column; `validationFailed` for dangling references when strict.
    ///   Then nothing is written.
    public static func load(
        _ mapping: LoadMapping, into store: OpenStore, isStrict: Bool = false,
        progress: @escaping (String, Int) -> Void = { _, _ in }, read: @escaping (String) throws -> Data
    ) throws(StorageError) -> LoadReport {
        let writer = try store.beginWrite(WriteOptions(isBulk: true))
        defer { writer.end() }
        try Peers(writer).checkIsAlone()
        let loader = FileLoader(writer, mapping, isStrict: isStrict, read, progress)
        try loader.run(mapping)
        _ = try writer.commit(CommitRecord(author: "load"))
        return loader.report
    }

    private func run(_ mapping: LoadMapping) throws(StorageError) {
        for file in mapping.files {
            for (name, pairs) in file.relationships ?? [:] {
                let destination = try slot(name, file).destination ?? 0
                wanted[destination, default: []].append(pairs.keys.sorted())
            }
        }
        for file in mapping.files { try load(file) }
        guard isStrict, let first = report.dangling.first(where: { $0.unresolved > 0 }) else { return }
        let failures = report.dangling.filter { $0.unresolved > 0 }.map {
            ValidationFailure($0.relationship, "has \($0.unresolved) references that lead nowhere")
        }
        throw StorageError(
            .validationFailed, "\(first.unresolved) references of \(first.relationship) lead nowhere; nothing was loaded",
            details: .init(failures: failures))
    }

    private func entity(_ file: LoadMapping.File) throws(StorageError) -> EntityIndex {
        if let index = schema.index(of: file.entity) { return index }
        throw StorageError(
            .invalidConfiguration,
            "\(file.file.excerpt()): the model has no entity \"\(file.entity.excerpt())\"\(Suggestion.nearest(file.entity, in: schema.entities.map(\.name)))"
        )
    }

    private func slot(_ name: String, _ file: LoadMapping.File) throws(StorageError) -> Slot {
        let description = schema[try entity(file)]
        if let slot = description.slot(name), description.slots[slot].destination != nil { return description.slots[slot] }
        throw StorageError(
            .invalidConfiguration,
            "\(file.file.excerpt()): \(file.entity) has no to-one relationship \"\(name.excerpt())\"\(Suggestion.nearest(name, in: description.slots.map(\.name)))"
        )
    }

    private func load(_ file: LoadMapping.File) throws(StorageError) {
        let data: Data
        do { data = try read(file.file) } catch let error as StorageError { throw error } catch {
            throw StorageError(.notFound, "the file \(file.file.excerpt()) cannot be read", cause: error)
        }
        var rows: any RecordReader = file.file.hasSuffix(".csv") ? try CSVRecords(data, file.file) : NDJSONRecords(data, file.file)
        let entity = try entity(file)
        let target = LoadTarget(schema, entity, file, nils, ignoresUnknown: ignoresUnknown)
        try target.check(schema, columns: rows.columns)
        var references = target.references.map {
            ($0, LoadReport.Dangling(relationship: "\(file.entity).\($0.name)", unresolved: 0, distinct: 0, unnamed: 0), Set<[String]>())
        }
        let batch = RowBatch(capacity: 1024)
        var keys: Range<Int64> = 0..<0, count = 0
        while let record = try rows.next() {
            if keys.isEmpty { keys = try writer.reserveKeys(entity, count: 1024) }
            let key = keys.lowerBound
            keys = (key + 1)..<keys.upperBound
            try target.check(record)
            var cells = try target.cells(record, batch)
            for index in references.indices {
                let reference = references[index].0
                guard let name = target.name(record, reference.columns) else {
                    references[index].1.unnamed += 1
                    continue
                }
                let lookup = Lookup(entity: reference.destination, attributes: reference.attributes)
                if let found = lookups[lookup]?[name] {
                    cells[reference.slot] = .int(found)
                } else {
                    references[index].1.unresolved += 1
                    references[index].2.insert(name)
                }
            }
            let row = batch.appendRow(key: key, version: 1, entity: entity, slots: cells.count)
            for (slot, cell) in cells.enumerated() { row[slot] = cell }
            remember(entity, key, target, record)
            count += 1
            if batch.isFull {
                try flush(batch, entity)
                progress(file.entity, count)
            }
        }
        try flush(batch, entity)
        report.loaded.append((file.entity, count))
        for (_, var dangling, names) in references {
            dangling.distinct = names.count
            report.dangling.append(dangling)
        }
    }

    private func flush(_ batch: RowBatch, _ entity: EntityIndex) throws(StorageError) {
        if batch.count > 0 { try writer.load(entity, batch) }
        batch.clear()
    }

    private func remember(_ entity: EntityIndex, _ key: Int64, _ target: LoadTarget, _ record: LoadRecord) {
        for attributes in wanted[entity] ?? [] {
            guard let name = target.name(record, attributes.map { target.column(of: $0) }) else { continue }
            lookups[Lookup(entity: entity, attributes: attributes), default: [:]][name] = key
        }
    }
}
