internal import PolystoreStorage
internal import PolystoreTransfer

extension TransferOptions {
    /// Reads the options of a transfer, which have the names of those of the command line.
    ///
    /// - Throws: `invalidConfiguration` for a text of another form, and for an unknown option, with the most similar one.
    init(json: String) throws(StorageError) {
        let known = [
            "only", "except", "where", "closure", "ifExists", "rename", "type", "acceptLoss", "history", "verify",
        ]
        let fields = try JSONFields(json, "the options", known: known, code: .invalidConfiguration)
        self.init()
        selection.only = try fields.strings("only").map { Set($0) }
        selection.except = Set(try fields.strings("except") ?? [])
        selection.followsReferences = try fields.bool("closure")
        for (entity, text) in try fields.texts("where") {
            do throws(QueryError) { selection.conditions[entity] = try QueryPredicate(parsing: text) } catch {
                let error = StorageError(error)
                throw StorageError(error.code, "\"where\" '\(text.excerpt())': \(error.message)", details: error.details, cause: error)
            }
        }
        if let text = try fields.string("ifExists") {
            guard let found = ExistingObjects(rawValue: text) else {
                throw fields.wrong("ifExists", "one of \(ExistingObjects.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            existing = found
        }
        mapping.renames = try fields.texts("rename")
        for (path, text) in try fields.texts("type") { mapping.types[path] = try TransferMapping.AttributeType(parsing: text) }
        acceptedLosses = Set(try fields.strings("acceptLoss") ?? [])
        includesHistory = try fields.bool("history")
        verifies = try fields.optionalBool("verify") ?? true
    }
}
