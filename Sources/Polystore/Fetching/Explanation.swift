public import PolystoreStorage

/// How a request is answered: by each store, and by what is left to the layer above it.
public struct Explanation: Sendable, CustomStringConvertible {
    /// A part of a request: a condition that all objects must satisfy, or a key of the order.
    public struct Part: Sendable, Hashable {
        /// The part as text.
        public let text: String
        /// `.exact` where the store answers it; otherwise the rows are read, and the layer above answers it.
        public let pushdown: Pushdown
    }

    /// How one store answers.
    public struct Store: Sendable {
        /// The kind of store.
        public let storeType: String
        /// The configuration whose entities it keeps; nil for all.
        public let configuration: String?
        /// The conditions.
        public let conditions: [Part]
        /// The order.
        public let order: [Part]
        /// What the engine says of its plan for the part that it answers.
        public let plan: [String]

        /// Whether nothing is left to the layer above.
        public var isExact: Bool { (conditions + order).allSatisfy { $0.pushdown == .exact } }
    }

    /// The stores that are asked.
    public let stores: [Store]

    /// Whether the stores answer everything by themselves.
    public var isExact: Bool { stores.allSatisfy(\.isExact) }

    /// The parts and plans, line by line.
    public var description: String {
        stores.map { store in
            func line(_ kind: String, _ part: Part) -> String {
                "  \(kind) \(part.text): \(part.pushdown == .exact ? "in the store" : "above the store")"
            }
            return
                ([store.storeType + (store.configuration.map { " (\($0))" } ?? "")] + store.conditions.map { line("where", $0) }
                + store.order.map { line("order by", $0) } + store.plan.map { "  | \($0)" }).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}

extension From {
    /// Answered by the stores alone: what a store cannot answer exactly is the error `unsupported`, which names it.
    public func storeOnly() -> From {
        var copy = self
        copy.isStoreOnly = true
        return copy
    }
}

extension ObjectContext {
    /// Throws what a request forbids that was to be answered by the stores alone.
    func checkStoreOnly<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) {
        guard from.isStoreOnly else { return }
        for store in try explain(from).stores {
            guard let part = (store.conditions + store.order).first(where: { $0.pushdown != .exact }) else { continue }
            throw StorageError(
                .unsupported, "\(store.storeType) does not answer \(part.text) by itself; leave storeOnly() out, or ask otherwise",
                details: .init(entity: model.schema.entities[try from.entity(model)].name))
        }
    }

    /// How a request is answered.
    func explain<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Explanation {
        let plan = try from.plan(model), name = model.schema.entities[plan.entity].name
        var stores: [Explanation.Store] = []
        for position in try stack.stores(for: plan.entity, from.configurations) {
            let store = try stack.store(position)
            stores.append(
                try withReader(position) { reader throws(StorageError) in
                    func part(_ text: String, _ request: FetchRequest) throws(StorageError) -> Explanation.Part {
                        do throws(QueryError) {
                            return Explanation.Part(text: text, pushdown: reader.pushdown(of: try request.plan(in: model.schema)))
                        } catch {
                            throw StorageError(error)
                        }
                    }
                    var conditions: [Explanation.Part] = [], order: [Explanation.Part] = []
                    let all: [Predicate] = from.predicate.map { if case .and(let parts) = $0.node { parts } else { [$0] } } ?? []
                    for condition in all { conditions.append(try part(condition.description, FetchRequest(name, where: condition))) }
                    for key in from.sort { order.append(try part(key.expression.description, FetchRequest(name, orderBy: [key]))) }
                    var answered = plan
                    if (conditions + order).contains(where: { $0.pushdown != .exact }) {
                        answered = ResidualReader(reader, schema: model.schema).stored(plan)
                    }
                    return Explanation.Store(
                        storeType: type(of: store).storeType, configuration: store.configuration, conditions: conditions, order: order,
                        plan: try reader.explanation(of: answered))
                })
        }
        return Explanation(stores: stores)
    }
}

extension DataStack {
    /// How a request is answered: what each store does by itself, its engine's plan, and what is left to the layer above.
    public func explain<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Explanation {
        try reporting { () throws(StorageError) in
            try ObjectContext(stack: core, model: core.model, storeCount: core.storeCount).explain(from)
        }
    }
}
