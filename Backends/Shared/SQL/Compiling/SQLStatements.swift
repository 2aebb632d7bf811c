package import PolystoreStorage
internal import Synchronization

/// A cache of compiled requests: repeating a request, also with other constants, requires only a lookup.
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

    /// A form of requests (`SQLTemplate`).
    private enum Form: Hashable {
        case fetch(FetchPlan, isOrdered: Bool)
        case values(QueryPlan)
        case update(FetchPlan, slots: [Int], values: [CheckedExpression])
        case deletion(FetchPlan)
    }

    /// The compiled statement of a form; nil for a request that the engine does not evaluate as the contract requires.
    private enum Compiled: Sendable {
        case fetch(Statement)
        case values(SQLValueQuery?)
        case change(SQLText?)
    }

    private struct State {
        var known: [Form: Compiled] = [:]
        /// The forms in the cache, and the position of the oldest one if the cache is full.
        var forms: [Form] = []
        var oldest = 0

        mutating func add(_ form: Form, _ compiled: Compiled, most: Int) {
            if known.updateValue(compiled, forKey: form) != nil { return }
            if forms.count < most { return forms.append(form) }
            known[forms[oldest]] = nil
            forms[oldest] = form
            oldest = (oldest + 1) % most
        }
    }

    /// The maximum number of statements in the cache.
    private static var most: Int { 256 }

    private let compiler: SQLCompiler
    private let layout: @Sendable (SQLSelect, FetchPlan) -> Layout
    private let state = Mutex(State())

    /// Creates an empty cache.
    ///
    /// - Parameter layout: Derives the store's layout from the columns of a statement.
    package init(_ compiler: SQLCompiler, layout: @escaping @Sendable (SQLSelect, FetchPlan) -> Layout) {
        self.compiler = compiler
        self.layout = layout
    }

    /// The number of statements in the cache.
    package var count: Int { state.withLock { $0.known.count } }

    /// Returns the statement of a fetch. Its rows are unordered if `isOrdered` is false.
    package func statement(_ plan: FetchPlan, isOrdered: Bool = true) -> Statement {
        var template = SQLTemplate(compiler.tables)
        let form = template.form(plan)
        guard case .fetch(let known)? = compiled(.fetch(form, isOrdered: isOrdered)) else { return fetch(plan, isOrdered) }
        return Statement(sql: known.sql, bindings: known.bindings.map(template.binding), layout: known.layout)
    }

    /// Returns the statement of a value query, or nil when the engine's answer would differ from the contract.
    package func values(_ plan: QueryPlan) -> SQLValueQuery? {
        var template = SQLTemplate(compiler.tables)
        let form = template.form(plan)
        guard case .values(let known)? = compiled(.values(form)) else { return compiler.values(plan) }
        return known.map { known in
            SQLValueQuery(
                text: known.text.mapBindings(template.binding), columns: known.columns, outputs: known.outputs, guards: known.guards)
        }
    }

    /// Returns the statement that changes many rows, or nil when the engine would compute a value that differs from the contract.
    package func update(_ update: BatchUpdate) -> SQLText? {
        var template = SQLTemplate(compiler.tables)
        let form = template.form(update)
        let key = Form.update(form.fetch, slots: form.assignments.map(\.slot), values: form.assignments.map(\.value))
        guard case .change(let known)? = compiled(key) else { return compiler.update(update) }
        return known?.mapBindings(template.binding)
    }

    /// Returns the statement that deletes many rows, or nil when the engine would select rows that differ from the contract.
    package func delete(_ plan: FetchPlan) -> SQLText? {
        var template = SQLTemplate(compiler.tables)
        let form = template.form(plan)
        guard case .change(let known)? = compiled(.deletion(form)) else { return compiler.delete(plan) }
        return known?.mapBindings(template.binding)
    }

    /// Returns what was compiled for a form, or nil for a long one, which is neither compared nor kept.
    private func compiled(_ form: Form) -> Compiled? {
        var room = Room(left: 64)
        guard room.take(form) else { return nil }
        if let known = state.withLock({ $0.known[form] }) { return known }
        let compiled = compile(form)
        state.withLock { $0.add(form, compiled, most: Self.most) }
        return compiled
    }

    private func compile(_ form: Form) -> Compiled {
        switch form {
        case .fetch(let plan, let isOrdered): .fetch(fetch(plan, isOrdered))
        case .values(let plan): .values(compiler.values(plan))
        case .update(let plan, let slots, let values):
            .change(compiler.update(BatchUpdate(fetch: plan, assignments: zip(slots, values).map { ($0, $1) })))
        case .deletion(let plan): .change(compiler.delete(plan))
        }
    }

    private func fetch(_ plan: FetchPlan, _ isOrdered: Bool) -> Statement {
        let select = compiler.select(plan, isOrdered: isOrdered)
        let (sql, bindings) = select.text.rendered(compiler.tables.dialect)
        return Statement(sql: sql, bindings: bindings, layout: layout(select, plan))
    }

    /// The room that the parts and constants of a form may take to be kept.
    private struct Room {
        var left: Int

        mutating func take(_ form: Form) -> Bool {
            switch form {
            case .fetch(let plan, _), .deletion(let plan): take(plan)
            case .update(let plan, _, let values): take(plan) && values.allSatisfy { take($0) }
            case .values(let plan):
                switch plan.kind {
                case .rows(let outputs): take(plan.fetch) && outputs.allSatisfy { take($0) }
                case .groups(let grouping):
                    take(plan.fetch) && grouping.keys.allSatisfy { take($0) }
                        && grouping.aggregates.allSatisfy { $0.argument.map { take($0) } ?? true }
                }
            }
        }

        private mutating func take(_ plan: FetchPlan) -> Bool { take(plan.predicate) && plan.sort.allSatisfy { take($0.expression) } }

        /// Whether a condition has no more parts than there is room for, and no long constants; takes the room.
        private mutating func take(_ predicate: CheckedPredicate) -> Bool { predicate.walk { node, _ in take(node) } }

        /// Whether an expression has no more parts than there is room for, and no long constants; takes the room.
        private mutating func take(_ expression: CheckedExpression) -> Bool { expression.walk { node, _ in take(node) } }

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
}

extension Value {
    fileprivate var isShort: Bool { byteCount ?? 0 <= 256 }
}
