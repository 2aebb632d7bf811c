/// The correspondence between declarations of an older version and those of a newer version: entities of a schema, or properties of an
/// entity.
struct Renames {
    /// The version that contains the information about renamed declarations.
    enum Direction: Sendable, Hashable {
        /// The destination of the migration, which is the newer version.
        case forward
        /// The source of the migration. The destination is the older version and does not contain the later names.
        case back
    }

    /// A name, and the name that it had in the preceding version.
    typealias Declaration = (name: String, originalName: String?)

    /// The old name of each new declaration that corresponds to an old one.
    private(set) var origins: [String: String] = [:]
    /// The new name of each old declaration that corresponds to a new one.
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

        /// Returns the name from which a declaration was renamed in this step. A hint can remain from an earlier step: in that case the old
        /// version contains the hint too, or does not contain the original name.
        func renamed(_ declaration: Declaration) -> String? {
            guard let original = declaration.originalName, original != declaration.name, before[original] != nil else { return nil }
            return before[declaration.name]?.originalName == original ? nil : original
        }

        for declaration in new {
            guard let original = renamed(declaration), successors[original] == nil else { continue }
            // An original name that still exists corresponds to itself, unless another declaration was renamed to it.
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

    /// Returns the new names of old declarations, or the names themselves if there is no new name.
    func follow(_ names: [String]) -> [String] { names.map { successors[$0] ?? $0 } }
}
