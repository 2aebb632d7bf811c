internal import PolystoreStorage

/// The conversion of the values of a slot for a target.
struct SlotConversion: Sendable {
    private enum Kind: Sendable {
        /// To another type.
        case cast(ValueConversion)
        /// The ids of objects whose hierarchies have other names.
        case references([String: String])
    }

    /// The position in the rows of the source and of the target.
    let slot: Int
    /// The path of the attribute in the source: with the entity that declares it.
    let path: String
    /// The type of the value in the source.
    let type: ValueType
    /// The attribute of the target.
    let attribute: Attribute
    private let entity: EntityDescription
    private let kind: Kind

    /// Creates the conversion of a slot; nil if its values stay the same.
    ///
    /// - Parameter roots: The new names of hierarchies.
    init?(_ slot: Int, from before: EntityDescription, to after: EntityDescription, _ source: Schema, _ roots: [String: String]) {
        let origin = before.slots[slot]
        guard let old = origin.attribute, let new = after.slots[slot].attribute else { return nil }
        if old.crossReference != nil, !roots.isEmpty {
            kind = .references(roots)
        } else if old.type != new.type, let conversion = ValueConversion(from: old.type, to: new.type) {
            kind = .cast(conversion)
        } else {
            return nil
        }
        self.slot = slot
        path = "\(source.entities[origin.declaredIn].name).\(origin.name)"
        type = old.type
        attribute = new
        entity = after
    }

    /// Whether the value gets another type, which may have no exact equivalent.
    var isCast: Bool { if case .cast = kind { true } else { false } }

    /// Returns a value for the target. A value without an equivalent becomes nil if the attribute is optional.
    func convert(_ value: Value) -> ValueConversion.Result {
        switch kind {
        case .references(let roots):
            guard case .string(let text) = value, let id = ObjectKey(text), let root = roots[id.root] else { return .exact(value) }
            return .exact(ObjectKey(store: id.store, root: root, key: id.key).constant)
        case .cast(let conversion):
            switch conversion.convert(value) {
            case .exact(let value):
                if let normal = normal(value) { return .exact(normal) }
            case .nearest(let value):
                if let normal = normal(value) { return .nearest(normal) }
            case .none: break
            }
            return attribute.isOptional ? .nearest(.null) : .none
        }
    }

    /// Returns the value that a copy has; nil if it has none.
    ///
    /// - Parameter paths: The attributes that may have the nearest value, or nil, as paths in the source.
    func convert(_ value: Value, accepting paths: Set<String>) -> Value? {
        switch convert(value) {
        case .exact(let value): value
        case .nearest(let value): paths.contains(path) ? value : nil
        case .none: nil
        }
    }

    private func normal(_ value: Value) -> Value? { try? entity.normalise(value, slot: slot) }
}
