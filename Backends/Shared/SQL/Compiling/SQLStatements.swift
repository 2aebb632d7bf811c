public import PolystoreStorage
internal import Synchronization

/// A cache of compiled fetches, so that repeating a fetch requires only a lookup.
public final class SQLStatements<Layout: Sendable>: Sendable {
    /// A statement that is ready to run.
    public struct Statement: Sendable {
        /// The text in the dialect.
        public let sql: String
        /// The bindings in the order of the placeholders.
        public let bindings: [SQLBinding]
        /// The layout that the store derived from the columns.
        public let layout: Layout
    }

    private struct Key: Hashable {
        let plan: FetchPlan
        let isOrdered: Bool
    }

    /// The maximum number of statements in the cache.
    private static var most: Int { 256 }

    private let compiler: SQLCompiler
    private let layout: @Sendable (SQLSelect, FetchPlan) -> Layout
    private let known = Mutex<[Key: Statement]>([:])

    /// Creates an empty cache.
    ///
    /// - Parameter layout: Derives the store's layout from the columns of a statement.
    public init(_ compiler: SQLCompiler, layout: @escaping @Sendable (SQLSelect, FetchPlan) -> Layout) {
        self.compiler = compiler
        self.layout = layout
    }

    /// Returns the statement of a fetch. Its rows are unordered if `isOrdered` is false.
    public func statement(_ plan: FetchPlan, isOrdered: Bool = true) -> Statement {
        let key = Key(plan: plan, isOrdered: isOrdered)
        var room = 64
        // Long statements are neither compared nor cached.
        guard plan.predicate.fits(&room), plan.sort.allSatisfy({ $0.expression.fits(&room) }) else { return compiled(key) }
        if let known = known.withLock({ $0[key] }) { return known }
        let statement = compiled(key)
        known.withLock { known in
            if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
            known[key] = statement
        }
        return statement
    }

    private func compiled(_ key: Key) -> Statement {
        let select = compiler.select(key.plan, isOrdered: key.isOrdered)
        let (sql, bindings) = select.text.rendered(compiler.tables.dialect)
        return Statement(sql: sql, bindings: bindings, layout: layout(select, key.plan))
    }
}

extension CheckedPredicate {
    /// Whether the condition has no more parts than `room` allows and no long constants. Subtracts its parts from `room`.
    fileprivate func fits(_ room: inout Int) -> Bool {
        room -= 1
        guard room > 0 else { return false }
        switch self {
        case .constant, .isNil, .comparePaths, .isEntity: return true
        case .compare(_, _, let value): return value.isShort
        case .isIn(_, let values): return Self.fit(values, &room)
        case .text(_, _, let needle): return needle.text.utf8.count <= 256
        case .compareExpressions(let a, _, let b): return a.fits(&room) && b.fits(&room)
        case .isInExpression(let expression, let values): return expression.fits(&room) && Self.fit(values, &room)
        case .textOf(let expression, _, let needle): return expression.fits(&room) && needle.text.utf8.count <= 256
        case .related(let members): return members.predicate.fits(&room)
        case .and(let parts), .or(let parts):
            for part in parts where !part.fits(&room) { return false }
            return true
        case .not(let part): return part.fits(&room)
        }
    }

    private static func fit(_ values: [Value], _ room: inout Int) -> Bool {
        room -= values.count
        return room > 0 && values.allSatisfy(\.isShort)
    }
}

extension CheckedExpression {
    fileprivate func fits(_ room: inout Int) -> Bool {
        room -= 1
        guard room > 0 else { return false }
        switch self {
        case .path, .outer: return true
        case .value(let value, _): return value.isShort
        case .function(_, let arguments, _):
            for argument in arguments where !argument.fits(&room) { return false }
            return true
        case .conditional(let condition, let a, let b, _): return condition.fits(&room) && a.fits(&room) && b.fits(&room)
        case .related(_, let members, _, _): return members.predicate.fits(&room)
        }
    }
}

extension Value {
    fileprivate var isShort: Bool {
        switch self {
        case .string(let text): text.utf8.count <= 256
        case .data(let bytes): bytes.count <= 256
        case .null, .bool, .int, .double, .decimal, .date, .uuid: true
        }
    }
}
