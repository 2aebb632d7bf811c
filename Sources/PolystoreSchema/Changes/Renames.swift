/// Which declarations of an older version go on in those of a newer one: entities of a schema, or properties of an entity.
struct Renames {
    /// Which of the two versions says what was renamed.
    enum Direction: Sendable, Hashable {
        /// The one that is gone over to: it is the newer one.
        case forward
        /// The one that is left: the older one, which is gone back to, does not know it yet.
        case back
    }

    /// A name, and the one that it had in the version before.
    typealias Declaration = (name: String, originalName: String?)

    /// The old name of each new one that goes on from an old one.
    private(set) var origins: [String: String] = [:]
    /// The new name of each old one that goes on.
    private(set) var successors: [String: String] = [:]

    init(from old: [Declaration], to new: [Declaration], _ direction: Direction) {
        switch direction {
        case .forward: self.init(from: old, to: new)
        case .back:
            self.init(from: new, to: old)
            swap(&origins, &successors)
        }
    }

    private init(from old: [Declaration], to new: [Declaration]) {
        let before = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

        /// The name that a declaration was renamed from in this very step. A hint can be left over from a step before: then the old
        /// version has it too, or does not have the original.
        func renamed(_ declaration: Declaration) -> String? {
            guard let original = declaration.originalName, original != declaration.name, before[original] != nil else { return nil }
            return before[declaration.name]?.originalName == original ? nil : original
        }

        for declaration in new {
            guard let original = renamed(declaration), successors[original] == nil else { continue }
            // An original that is still there goes on in itself, unless its name was taken by yet another one.
            if let other = after[original], renamed(other) == nil { continue }
            link(original, declaration.name)
        }
        for declaration in new where origins[declaration.name] == nil && successors[declaration.name] == nil {
            if before[declaration.name] != nil { link(declaration.name, declaration.name) }
        }
    }

    private mutating func link(_ old: String, _ new: String) {
        origins[new] = old
        successors[old] = new
    }

    /// The new names of old ones, as far as they go on.
    func follow(_ names: [String]) -> [String] { names.map { successors[$0] ?? $0 } }
}
