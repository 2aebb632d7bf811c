internal import PolystoreStorage

/// The debug descriptions of public types for `print`, `po` and logs. They contain attribute values and must be shown only to people who
/// may see these.

extension DataStack: CustomDebugStringConvertible {
    /// The model's version, and each store with its configuration and identity.
    public var debugDescription: String {
        let stores = core.entries.map { position, entry in
            "  \(position): \(entry.store.storeType) \(entry.store.configuration ?? "(all entities)") \(entry.store.storeID)"
        }
        return (["DataStack of model \"\(schema.version)\", \(schema.entities.count) entities, \(stores.count) stores"] + stores)
            .joined(separator: "\n")
    }
}

extension ManagedObject: CustomDebugStringConvertible {
    /// The entity, the primary key, the version, the pending state, and every value.
    public var debugDescription: String {
        if _isPrototype { return "\(type(of: self)) (prototype without a row)" }
        let state = isDeletedObject ? " deleted" : (isNew ? " new" : (hasChanges ? " changed" : ""))
        let values = currentValues().sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value.debugText)" }
        return (["\(entityName) \(_key) version \(_version)\(state)"] + values).joined(separator: "\n")
    }
}

extension Value {
    /// The value as JSON.
    package var debugText: String { JSONWriter.write(ValueText.json(self)) }
}

extension From: CustomDebugStringConvertible {
    /// The request on one line.
    public var debugDescription: String {
        let text = line("From<\(entityName ?? "\(Object.self)")>", predicate: predicate?.description, order: sort.map(\.text))
        return problem.map { "\(text) (\($0))" } ?? text
    }
}

extension Where: CustomDebugStringConvertible {
    /// The condition as text.
    public var debugDescription: String { "Where<\(Object.self)>(\(predicate))" }
}

extension OrderBy: CustomDebugStringConvertible {
    /// The sort expressions and their directions.
    public var debugDescription: String {
        "OrderBy<\(Object.self)>(\(terms.map(\.text).joined(separator: ", ")))"
    }
}

extension Select: CustomDebugStringConvertible {
    /// The expression, and its alias if it has one.
    public var debugDescription: String {
        let alias = QueryOutput(output.expression).alias == output.alias ? "" : " as \(output.alias)"
        return "Select<\(Object.self)>(\(problem?.description ?? output.expression.description + alias))"
    }
}

extension Into: CustomDebugStringConvertible {
    /// The class and the configuration.
    public var debugDescription: String { "Into<\(Object.self)>(\(place.map { $0 ?? "nil" } ?? ""))" }
}

extension BaseTransaction: CustomDebugStringConvertible {
    /// The kind, the author, and the numbers of changed objects.
    public var debugDescription: String {
        let kind = self is UnsafeTransaction ? "UnsafeTransaction" : "WriteTransaction"
        guard let tracker = context.tracker else { return "\(kind) by \"\(author)\" (ended)" }
        let written = tracker.counts, pending = tracker.pendingCounts
        return "\(kind) by \"\(author)\": \(written.inserted + pending.inserted) inserted, \(written.updated + pending.updated) updated, "
            + "\(written.deleted + pending.deleted) deleted"
    }
}

extension ReadTransaction: CustomDebugStringConvertible {
    /// Whether it has ended.
    public var debugDescription: String { "ReadTransaction\(context.sessions == nil ? " (ended)" : "")" }
}

extension ViewContext: CustomDebugStringConvertible {
    /// The merge time and the number of living objects.
    public var debugDescription: String { "ViewContext merging \(mergeTime), \(liveCount) objects alive" }
}
