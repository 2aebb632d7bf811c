internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Imports of values.
extension ProgramRun {
    func importAll(
        _ step: ProgramStep, _ kind: ProgramImportKind, _ entity: String, _ home: Int, _ first: Int, _ sources: [ProgramSource],
        _ transaction: BaseTransaction
    ) throws {
        let place = isShared(entity) ? home : nil, log = ProgramImport.Log(), order = ids(state).positions
        let from = place == nil ? From<DynamicObject>(entity: entity) : From<DynamicObject>(entity: entity, configuration(home))
        let items = sources.enumerated().map {
            ProgramImport(number: first + $0, source: $1, kind: kind, from: from, into: into(entity, home), log: log)
        }
        let results: [PersistenceResult] = try transaction.importPersistableObjects(items)
        // An undone object no longer has its key, which may be assigned again.
        let made = Dictionary(log.made.map { ($0.object.objectID.key, $0.number) }) { $1 }
        let found = results.map { result in
            switch result {
            case .inserted(let key): "new \(made[key] ?? -1)"
            case .updated(let key), .unchanged(let key): "\(made[key] ?? state.numbers[key] ?? -1)"
            case .skipped: "skipped"
            case .failed(let error as StorageError): "\(error.code)"
            case .failed: "failed"
            }
        }
        let flushes = !isDetached
        let delivered = sources.enumerated().map { position, source in
            state.naive.importOne(
                source, kind, entity, (place, home), first + position, order, flushes: flushes, isNested: kind.isNested && flushes)
        }
        for (number, object) in log.made where state.naive.objects[number] != nil {
            note(number, object.objectID.key, home: home)
            held[number] = object
        }
        try compare(step, .text(delivered.joined(separator: ", ")), .text(found.joined(separator: ", ")))
    }
}

extension NaiveGraph {
    /// Imports a value and returns the result in words. A failed import keeps its changes up to the failure, unless it is nested.
    ///
    /// - Parameters:
    ///   - homes: The store that is searched, nil for all, and that of a new object.
    ///   - order: The positions of the objects by their ids: the first of several is updated. New ones follow all others, in their order.
    ///   - flushes: Whether pending changes are applied to the stores before the search.
    fileprivate mutating func importOne(
        _ source: ProgramSource, _ kind: ProgramImportKind, _ entity: String, _ homes: (place: Int?, new: Int), _ new: Int,
        _ order: [Int: Int], flushes: Bool, isNested: Bool
    ) -> String {
        if source.isSkipped { return "skipped" }
        let before = self, refused = "\(StorageError.Code.uniqueConstraintViolated)"
        if isNested, violatesUnique { return refused }
        do {
            let delivered = try bring(source, kind, entity, homes, new, order, flushes: flushes)
            if isNested, violatesUnique { throw Refused(code: .uniqueConstraintViolated) }
            return delivered
        } catch {
            if isNested { self = before }
            return (error as? Refused).map { "\($0.code)" } ?? "failed"
        }
    }

    private mutating func bring(
        _ source: ProgramSource, _ kind: ProgramImportKind, _ entity: String, _ homes: (place: Int?, new: Int), _ new: Int,
        _ order: [Int: Int], flushes: Bool
    ) throws -> String {
        var known: Int?
        if let name = kind.unique, !source.id.isNull {
            if flushes, violatesUnique { throw Refused(code: .uniqueConstraintViolated) }
            let candidates = objects.keys.filter { number in
                isKind(number, of: entity) && (homes.place == nil || objects[number]?.home == homes.place)
                    && ReferenceStore.order(objects[number]?.values[name] ?? .null, source.id) == 0
            }
            known = candidates.min { (order[$0] ?? .max, $0) < (order[$1] ?? .max, $1) }
        }
        let number = known ?? new
        if known == nil {
            create(number, entity, homes.new)
            if let name = kind.unique, !source.id.isNull { try assign(number, name, source.id) }
        }
        for item in source.row { try assign(number, item.name, item.value) }
        if source.fails { throw ProgramFailure() }
        return known == nil ? "new \(number)" : "\(number)"
    }
}
