#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The derivation of the columns that both versions of a hierarchy share.
struct RollingColumns {
    private let root: EntityIndex
    private let origin: EntityIndex
    private let parts: [EntityMapping]
    private let old: SQLTables
    private let new: SQLTables

    init(_ root: EntityIndex, _ origin: EntityIndex, _ parts: [EntityMapping], _ old: SQLTables, _ new: SQLTables) {
        self.root = root
        self.origin = origin
        self.parts = parts
        self.old = old
        self.new = new
    }

    /// A property of one entity in both versions.
    private struct Use {
        let part: EntityMapping
        let slot: Slot
        let source: SlotSource
        let path: String
    }

    /// Returns the columns of the newer version.
    ///
    /// - Throws: `unsupported` for a column whose values cannot be stored in both forms.
    func columns() throws(StorageError) -> [RollingColumn] {
        let taken = Set(old.schema[origin].columns.indices.map { old.column(root: origin, $0) })
        var columns: [RollingColumn] = []
        for column in new.schema[root].columns.indices {
            let finalName = new.column(root: root, column)
            let ownName = taken.contains(finalName) ? "polystore_next_\(column)" : finalName
            columns.append(try self.column(column, finalName: finalName, ownName: ownName))
        }
        return columns
    }

    private func column(_ column: Int, finalName: String, ownName: String) throws(StorageError) -> RollingColumn {
        let uses = uses(column), path = uses.first?.path ?? finalName
        let type = new.schema[root].columns[column].type
        func make(_ name: String, _ source: RollingColumn.Source, _ guarded: RollingColumn.Scope? = nil) -> RollingColumn {
            RollingColumn(name: name, finalName: finalName, type: type, source: source, path: path, guardedRows: guarded)
        }
        var origins: Set<Int> = [], values: Set<Value> = [], fallbacks: Set<Value> = []
        for use in uses {
            switch use.source {
            case .value(let value): values.insert(value)
            case .slot(let slot, let ifNil):
                origins.insert(old.schema[use.part.source].slots[slot].column)
                fallbacks.insert(ifNil)
            }
        }
        guard let origin = origins.first else { return make(ownName, try added(uses, values, type, path)) }
        if origins.count > 1 || !values.isEmpty || fallbacks.count > 1 {
            throw RollingChecks.refusal(path, "is mapped from different properties")
        }
        let before = old.schema[self.origin].columns[origin].type, oldName = old.column(root: self.origin, origin)
        let guarded = uses.filter { mayBeNil($0.slot) && !mayBeNil(oldSlot($0)) }
        let scope = guarded.isEmpty ? nil : scope(guarded.map(\.part))
        let ifNil = try constant(fallbacks.first ?? .null, type, path)
        if ifNil == nil, uses.contains(where: { !mayBeNil($0.slot) && mayBeNil(oldSlot($0)) }) {
            throw RollingChecks.refusal(path, "is required, but programs of the older version may leave it nil: give it a default value")
        }
        if before == type, ifNil == nil { return make(oldName, .kept, scope) }
        guard before == type || before.wider.contains(type) else {
            throw RollingChecks.refusal(path, "accepts fewer values than programs of the older version write")
        }
        if before.isText, before != type {
            throw RollingChecks.refusal(path, "accepts strings that are not URLs, which programs of the older version cannot read")
        }
        let conversion = RollingColumn.Conversion(
            old: oldName, before: before, after: type, ifNil: ifNil, scope: self.scope(uses.map(\.part)))
        return make(ownName, .converted(conversion), scope)
    }

    private func added(
        _ uses: [Use], _ values: Set<Value>, _ type: ValueType, _ path: String
    ) throws(StorageError) -> RollingColumn.Source {
        guard values.count <= 1 else { throw RollingChecks.refusal(path, "has different initial values") }
        let constant = try constant(values.first ?? .null, type, path)
        if constant == nil, uses.contains(where: { !mayBeNil($0.slot) }) {
            throw RollingChecks.refusal(path, "is required, but programs of the older version do not assign it: give it a default value")
        }
        return .added(constant: constant, scope: scope(uses.map(\.part)))
    }

    /// Returns the columns that only the older version has.
    ///
    /// - Throws: `unsupported` for a column that requires a value in the older version.
    func removed() throws(StorageError) -> [RemovedColumn] {
        var kept: Set<Int> = []
        for part in parts {
            for case .slot(let slot, _) in part.slots { kept.insert(old.schema[part.source].slots[slot].column) }
        }
        var removed: [RemovedColumn] = []
        for column in old.schema[origin].columns.indices where !kept.contains(column) {
            var constants: [(constant: String, scope: RollingColumn.Scope)] = []
            for part in parts {
                let entity = old.schema[part.source]
                guard let slot = entity.slots.first(where: { $0.column == column }) else { continue }
                let path = "\(entity.name).\(slot.name)"
                if let constant = try constant(slot.attribute?.defaultValue ?? .null, slot.type, path) {
                    constants.append((constant, scope([part])))
                } else if !mayBeNil(slot) {
                    throw RollingChecks.refusal(
                        path,
                        "is required by programs of the older version: give it a default value, or make it optional, in an earlier version")
                }
            }
            removed.append(RemovedColumn(name: old.column(root: origin, column), constants: constants))
        }
        return removed
    }

    private func uses(_ column: Int) -> [Use] {
        parts.compactMap { part in
            let entity = new.schema[part.destination]
            guard let position = entity.slots.firstIndex(where: { $0.column == column }) else { return nil }
            let slot = entity.slots[position]
            return Use(part: part, slot: slot, source: part.slots[position], path: "\(entity.name).\(slot.name)")
        }
    }

    private func oldSlot(_ use: Use) -> Slot? {
        if case .slot(let slot, _) = use.source { old.schema[use.part.source].slots[slot] } else { nil }
    }

    private func mayBeNil(_ slot: Slot?) -> Bool {
        switch slot?.content {
        case .attribute(let attribute): attribute.isOptional
        case .toOne(let relationship, _): relationship.isOptional
        case nil: true
        }
    }

    private func scope(_ some: [EntityMapping]) -> RollingColumn.Scope {
        if some.count == parts.count { return RollingColumn.Scope(numbers: nil) }
        return RollingColumn.Scope(numbers: some.map { new.entityNumbers[$0.destination] }.sorted())
    }

    /// Returns a constant as SQL, or nil for nil.
    private func constant(_ value: Value, _ type: ValueType, _ path: String) throws(StorageError) -> String? {
        if value.isNull { return nil }
        guard let constant = new.dialect.constant(value, type) else {
            throw RollingChecks.refusal(path, "has a default value that the server cannot represent as a constant")
        }
        return constant
    }
}
#endif
