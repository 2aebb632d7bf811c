internal import PolystoreStorage

/// Imports in printed programs.
extension ProgramPrinter {
    func importAll(_ kind: ProgramImportKind, _ into: String, _ first: Int, _ sources: [ProgramSource]) -> [String] {
        let from = "From\(into.dropFirst("Into".count))", unique = kind.unique.map { "\"\($0)\"" } ?? "nil"
        let texts = sources.enumerated().map { position, source in
            let row = source.row.map { "(\"\($0.name)\", \(ProgramValues.source($0.value)))" }.joined(separator: ", ")
            return "    Source(from: \(from), into: \(into), number: \(first + position), unique: \(unique), "
                + "isNested: \(kind.isNested), id: \(ProgramValues.source(source.id)), row: [\(row)], "
                + "isSkipped: \(source.isSkipped), fails: \(source.fails)),"
        }
        return ["show { try transaction.importPersistableObjects(["] + texts + ["]) as [PersistenceResult] }"]
    }

    /// The source code of a value that imports itself.
    static var source: String {
        """
        struct Source: Persistable {
            let from: From<DynamicObject>, into: Into<DynamicObject>, number: Int, unique: String?, isNested: Bool
            let id: Value, row: [(String, Value)], isSkipped: Bool, fails: Bool

            func importIntoContext(_ context: BaseTransaction, importerData: inout Void) throws -> PersistenceResult {
                if isSkipped { return .skipped }
                if isNested, let transaction = context as? WriteTransaction { return try transaction.nested { try bring(into: context) } }
                return try bring(into: context)
            }

            func bring(into transaction: BaseTransaction) throws -> PersistenceResult {
                if let unique, !id.isNull {
                    let condition = Where<DynamicObject>(.compare(.path(PropertyPath(unique)), .equal, .value(id)))
                    if let object = try transaction.fetchOne(from.where(condition)) {
                        try fill(object)
                        return .update(object.objectID)
                    }
                }
                let object = try transaction.create(into)
                (Program.keys[number], Program.held[number]) = (object.objectID.key, object)
                if let unique, !id.isNull { try object.setValue(id, for: unique) }
                try fill(object)
                return .insert(object.objectID)
            }

            func fill(_ object: DynamicObject) throws {
                for (name, value) in row { try object.setValue(value, for: name) }
                if fails { throw CancellationError() }
            }
        }


        """
    }
}
