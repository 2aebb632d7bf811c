internal import Polystore
internal import PolystoreStorage

/// How values import themselves.
struct ProgramImportKind: Sendable {
    /// The attribute by which an object is looked for that is changed instead of a new one; nil for always a new one.
    var unique: String?
    /// Whether half of a value's work is undone where it fails, as far as the transaction holds one of a store.
    var isNested = false
}

/// A value that an object is imported from.
struct ProgramSource: Sendable {
    /// The value of the attribute by which the object is looked for; nil for a new object.
    var id: Value = .null
    var row: [ProgramAssignment]
    /// Whether it does nothing.
    var isSkipped = false
    /// Whether it throws after its values were assigned.
    var fails = false
}

/// A value on its way into a store.
struct ProgramImport: Persistable {
    /// The objects that an import has made, also where a value failed after that.
    final class Log {
        var made: [(number: Int, object: DynamicObject)] = []
    }

    let number: Int
    let source: ProgramSource
    let kind: ProgramImportKind
    let from: From<DynamicObject>
    let into: Into<DynamicObject>
    let log: Log

    func importIntoContext(_ context: BaseTransaction, importerData: inout Void) throws -> PersistenceResult {
        if source.isSkipped { return .skipped }
        if kind.isNested, let transaction = context as? Transaction { return try transaction.nested { try bring(into: context) } }
        return try bring(into: context)
    }

    private func bring(into transaction: BaseTransaction) throws -> PersistenceResult {
        if let name = kind.unique, !source.id.isNull {
            let request = from.where(Where(.compare(.path(PropertyPath(name)), .equal, .value(source.id))))
            if let object = try transaction.fetchOne(request) {
                try fill(object)
                return .update(object.objectID)
            }
        }
        let object = try transaction.create(into)
        log.made.append((number, object))
        if let name = kind.unique, !source.id.isNull { try object.setValue(source.id, for: name) }
        try fill(object)
        return .insert(object.objectID)
    }

    private func fill(_ object: DynamicObject) throws {
        for item in source.row { try object.setValue(item.value, for: item.name) }
        if source.fails { throw ProgramFailure() }
    }
}
