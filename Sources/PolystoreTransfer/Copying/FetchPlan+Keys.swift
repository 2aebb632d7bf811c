internal import PolystoreStorage

extension FetchPlan {
    /// Creates a plan for those rows of a hierarchy that have some keys and satisfy a condition.
    ///
    /// - Parameter keys: At least one key, in ascending order.
    init(_ schema: Schema, _ root: EntityIndex, keys: [Int64], and predicate: CheckedPredicate? = nil, fields: Fields) {
        let path = CheckedPath(steps: [], entity: root, leaf: .key, type: .int64, text: "key")
        let isOne: CheckedPredicate =
            keys.count == 1 ? .compare(path, .equal, .int(keys[0])) : .isIn(.path(path), keys.map(Value.int))
        let parts: [CheckedPredicate] =
            switch predicate {
            case nil, .constant(true): []
            case .and(let parts): parts
            case .some(let other): [other]
            }
        self.init(schema, root, where: parts.isEmpty ? isOne : .and([isOne] + parts), fields: fields)
    }
}
