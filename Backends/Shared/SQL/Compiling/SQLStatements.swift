package import PolystoreStorage
internal import Synchronization

/// A cache of compiled fetches, so that repeating a fetch requires only a lookup.
package final class SQLStatements<Layout: Sendable>: Sendable {
    /// A statement that is ready to run.
    package struct Statement: Sendable {
        /// The text in the dialect.
        package let sql: String
        /// The bindings in the order of the placeholders.
        package let bindings: [SQLBinding]
        /// The layout that the store derived from the columns.
        package let layout: Layout
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
    package init(_ compiler: SQLCompiler, layout: @escaping @Sendable (SQLSelect, FetchPlan) -> Layout) {
        self.compiler = compiler
        self.layout = layout
    }

    /// Returns the statement of a fetch. Its rows are unordered if `isOrdered` is false.
    package func statement(_ plan: FetchPlan, isOrdered: Bool = true) -> Statement {
        let key = Key(plan: plan, isOrdered: isOrdered)
        var room = Room(left: 64)
        // What is long is neither compared nor kept.
        guard room.take(plan.predicate), plan.sort.allSatisfy({ room.take($0.expression) }) else { return compiled(key) }
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

/// The room that a plan's parts and constants may take to be kept.
private struct Room {
    var left: Int

    /// Whether a condition has no more parts than there is room for, and no long constants; takes the room.
    mutating func take(_ predicate: CheckedPredicate) -> Bool { predicate.walk { node, _ in take(node) } }

    /// Whether an expression has no more parts than there is room for, and no long constants; takes the room.
    mutating func take(_ expression: CheckedExpression) -> Bool { expression.walk { node, _ in take(node) } }

    /// Takes the room of a node, and of properties and constants that a condition compares directly.
    private mutating func take(_ node: CheckedNode) -> CheckedWalk {
        switch node {
        case .property, .members: .into
        case .predicate(.compare(.path, _, .path)): take(1) ? .over : .out
        case .predicate(.compare(.path, _, .value(let value, _))): take(1) && value.isShort ? .over : .out
        case .predicate(.isIn(let expression, let values)):
            take(1 + values.count) && values.allSatisfy(\.isShort) ? parts(of: expression) : .out
        case .predicate(.text(let expression, _, let needle)):
            take(1) && needle.text.utf8.count <= 256 ? parts(of: expression) : .out
        case .expression(.value(let value, _)): take(1) && value.isShort ? .into : .out
        case .predicate, .expression: take(1) ? .into : .out
        }
    }

    private func parts(of expression: CheckedExpression) -> CheckedWalk { if case .path = expression { .over } else { .into } }

    private mutating func take(_ count: Int) -> Bool {
        left -= count
        return left > 0
    }
}

extension Value {
    fileprivate var isShort: Bool { byteCount ?? 0 <= 256 }
}
