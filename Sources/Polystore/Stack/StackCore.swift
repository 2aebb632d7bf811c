internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// What a stack and everything that came from it share: the model and the stores.
final class StackCore: Sendable {
    struct Entry: Sendable {
        let store: OpenStore
        /// The entities that are routed to the store.
        let entities: Set<EntityIndex>
    }

    private struct State: Sendable {
        /// The stores in the order of their positions. A position is never used again, so that objects of a store that was removed are known
        /// as such.
        var entries: [(position: Int, entry: Entry)] = []
        /// The position of the next store.
        var next = 0

        /// Where a position is among the entries.
        func index(of position: Int) -> Int? {
            var low = 0, high = entries.count
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].position < position { low = middle + 1 } else { high = middle }
            }
            return low < entries.count && entries[low].position == position ? low : nil
        }
        var relationships = RelationshipLoading.lazy
        var reportedRows = 10_000
        var publishers = PublisherCenter { nil }
        var instrumentation: (any StoreInstrumentation)?
        var pageSecret: [UInt8] = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    }

    /// A stack without anything, for key paths that are resolved without one.
    static let none = StackCore(model: .none)

    let model: StackModel
    let workers = StackWorkers()
    /// Where completions are called unless the caller names a queue.
    let completions = DispatchQueue(label: "polystore.completions")
    let commits = CommitHub()
    let joint = JointCommits()
    /// Leads publishers from commit to commit.
    var publishers: PublisherCenter { state.withLock { $0.publishers } }
    /// The watches over the stores, by position, while somebody observes.
    let following = Mutex<[Int: Following]>([:])
    /// Held while a watch begins, or ends because nobody observes.
    let startingToFollow = Mutex(())
    /// Whether stores that come are to be watched.
    let isFollowing = Atomic(false)
    /// How often a store came or went: what was found out about the stores holds until it changes.
    let storeChanges = Atomic(0)
    /// The number of cursors and streams that hold a snapshot of their own.
    let openStreams = Atomic(0)
    private let state = Mutex(State())

    init(model: StackModel) {
        self.model = model
        let center = PublisherCenter { [weak self] in self }
        state.withLock { $0.publishers = center }
    }

    deinit { for item in following.withLock({ Array($0.values) }) { item.watch?.cancel() } }

    /// Whether relationships may be loaded when they are first asked for.
    var relationships: RelationshipLoading {
        get { state.withLock { $0.relationships } }
        set { state.withLock { $0.relationships = newValue } }
    }

    /// From how many rows on an answer above a store is reported.
    var reportedRows: Int {
        get { state.withLock { $0.reportedRows } }
        set { state.withLock { $0.reportedRows = newValue } }
    }

    /// Reports what an answer has read that its store does not give by itself.
    func report(_ work: ResidualWork, of storeType: String) {
        if work.read < reportedRows { return }
        StoreLogging.notice(
            "\(work.read) rows of \(work.entity) were read for \(work.found), because \(storeType) does not answer a part of the request by "
                + "itself; explain says which")
    }

    /// Who measures what the stack does.
    var instrumentation: (any StoreInstrumentation)? {
        get { state.withLock { $0.instrumentation } }
        set { state.withLock { $0.instrumentation = newValue } }
    }

    /// What signs the cursors of pages.
    var pageSecret: [UInt8] {
        get { state.withLock { $0.pageSecret } }
        set { state.withLock { $0.pageSecret = newValue } }
    }

    /// Adds a store and gives its position.
    @discardableResult
    func append(_ entry: Entry) -> Int {
        let position = state.withLock { state in
            state.entries.append((state.next, entry))
            state.next += 1
            storeChanges.add(1, ordering: .releasing)
            return state.next - 1
        }
        countWriters()
        return position
    }

    /// Takes a store out; nil if it is not there.
    func remove(_ store: any StorageInterface) -> Entry? {
        defer { countWriters() }
        return state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.entry.store.isSame(as: store) }) else { return nil }
            storeChanges.add(1, ordering: .releasing)
            return state.entries.remove(at: index).entry
        }
    }

    /// Lets as many write transactions begin at a time as all stores take: more would wait inside one of them, and not in their order.
    ///
    /// A store with one writer is enough to let one begin at a time. What a closure will write to is known only when it does, and
    /// one that waits there for another would keep the locks that it has on servers, and its place before those that do not need the store.
    /// Closures that run on the calling thread are not counted.
    private func countWriters() {
        workers.writes.setWidth {
            let stores = entries.map(\.entry.store)
            return !stores.isEmpty && stores.allSatisfy { $0.capabilities.contains(.concurrentWriters) } ? Self.concurrentWriters : 1
        }
    }

    /// The writers that a store with concurrent writers takes at a time.
    private static let concurrentWriters = 4

    var entries: [(position: Int, entry: Entry)] {
        state.withLock { $0.entries }
    }

    func entry(_ position: Int) throws(StorageError) -> Entry {
        let entry = state.withLock { state in state.index(of: position).map { state.entries[$0].entry } }
        guard let entry else { throw StorageError(.storeClosed, "the store was removed from its stack; fetch the object again") }
        return entry
    }

    /// Whether a store is still part of the stack.
    func hasStore(_ position: Int) -> Bool { state.withLock { $0.index(of: position) != nil } }

    func store(_ position: Int) throws(StorageError) -> OpenStore { try entry(position).store }

    func storeID(_ position: Int) -> UUID { (try? entry(position).store.storeID) ?? UUID.placeholder }

    /// The position of the store with an identity; nil if the stack does not have it.
    func position(of storeID: UUID) -> Int? { entries.first { $0.entry.store.storeID == storeID }?.position }

    /// The stores that hold an entity: all of them, or those of the named configurations.
    ///
    /// - Throws: `notFound` before any store was added, and for an entity that no store holds.
    func stores(for entity: EntityIndex, _ configurations: [String?]?) throws(StorageError) -> [Int] {
        let all = entries
        let name = model.schema.entities[entity].name
        guard !all.isEmpty else {
            throw StorageError(.notFound, "the stack has no store yet; add one with addStorage before using \(name)")
        }
        let found = all.filter { item in
            item.entry.entities.contains(entity) && (configurations?.contains { $0 == item.entry.store.configuration } ?? true)
        }
        guard !found.isEmpty else {
            let wanted = configurations?.map { $0 ?? "Default" }.joined(separator: ", ")
            throw StorageError(
                .notFound, "no store of this stack holds \(name)\(wanted.map { " in configuration \($0)" } ?? "")",
                details: .init(entity: name))
        }
        return found.map(\.position)
    }
}

extension StackModel {
    /// A model without entities.
    static let none = StackModel()

    private init() {
        schema = .empty
        types = []
        entities = [:]
        inverses = []
        rules = []
        hasRules = false
        isSaveAware = []
        hasSaveAware = false
        isChecked = []
        hasCounts = false
        references = []
    }
}
