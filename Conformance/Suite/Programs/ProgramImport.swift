internal import Polystore
internal import PolystoreStorage

/// The import behaviour of values.
struct ProgramImportKind: Sendable {
    /// The attribute used to find an existing object to update; nil to always create a new one.
    var unique: String?
    /// Whether an import is a nested part, which is undone if the value fails halfway, provided that the transaction has one in the store.
    var isNested = false
}

/// A value from which an object is imported.
struct ProgramSource: Sendable {
    /// The value of the attribute used to find the object; nil for a new object.
    var id: Value = .null
    var row: [ProgramAssignment]
    /// Whether the import is skipped.
    var isSkipped = false
    /// Whether the import throws after its values were assigned.
    var fails = false
}

/// A value to be imported into a store.
struct ProgramImport: Persistable {
    /// The objects that an import has created, even if a value failed after that.
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
        if kind.isNested, let transaction = context as? WriteTransaction { return try transaction.nested { try bring(into: context) } }
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
