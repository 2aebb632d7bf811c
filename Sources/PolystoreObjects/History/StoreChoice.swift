public import PolystoreFoundation
public import PolystoreStorage

/// The selection of a single store of a stack.
public struct StoreChoice: Sendable {
    private enum Choice: Sendable {
        case only
        case storage(any StorageInterface)
        case configuration(String?)
        case identity(UUID)
    }

    private let choice: Choice

    /// The only store of the stack.
    public static let only = StoreChoice(choice: .only)

    /// Selects a store that was added to the stack.
    public static func storage(_ storage: any StorageInterface) -> StoreChoice { StoreChoice(choice: .storage(storage)) }

    /// Selects the only store with a configuration; nil is the configuration with all entities.
    public static func configuration(_ name: String?) -> StoreChoice { StoreChoice(choice: .configuration(name)) }

    /// Selects the store with an identity, such as that of a token.
    public static func identity(_ store: UUID) -> StoreChoice { StoreChoice(choice: .identity(store)) }

    /// Returns the position of the store in a stack.
    ///
    /// - Throws: `notFound` if the stack has no such store, or several.
    func position(in core: StackCore) throws(StorageError) -> Int {
        let entries = core.entries
        if entries.isEmpty { throw StorageError(.notFound, "the stack has no store yet; add one with addStorage") }
        switch choice {
        case .only:
            if entries.count == 1 { return entries[0].position }
            throw StorageError(
                .notFound,
                "the stack has \(entries.count) stores, each with its own history; specify the store by its configuration or storage")
        case .storage(let storage):
            if let found = entries.first(where: { $0.entry.store.isSame(as: storage) }) { return found.position }
            throw StorageError(.notFound, "the store is not part of this stack")
        case .identity(let store):
            if let found = core.position(of: store) { return found }
            throw StorageError(.notFound, "no store of this stack has the identity \(store.uuidString.lowercased())")
        case .configuration(let name):
            let found = entries.filter { $0.entry.store.configuration == name }
            if found.count == 1 { return found[0].position }
            let known = entries.map { $0.entry.store.configuration ?? "Default" }
            let problem = found.isEmpty ? "no store of this stack has" : "several stores of this stack have"
            throw StorageError(
                .notFound,
                "\(problem) the configuration \(name ?? "Default")\(found.isEmpty ? Suggestion.nearest(name ?? "Default", in: known) : "")")
        }
    }
}
