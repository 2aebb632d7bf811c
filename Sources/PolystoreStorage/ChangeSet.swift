/// A source of rows that can encode its rows into batches repeatedly, so that a large change needs no second copy in memory.
public struct RowSource {
    /// The number of rows.
    public let count: Int
    private let encode: (Range<Int>, RowBatch) -> Void
    private var check: ((RowBatch) throws(StorageError) -> Void)?

    /// Creates a source of `count` rows. `encode` appends the rows of a range to a batch.
    public init(count: Int, encode: @escaping (Range<Int>, RowBatch) -> Void) {
        self.count = count
        self.encode = encode
    }

    /// Returns a source of the same rows that runs `check` on each batch before delivering it.
    func checked(_ check: @escaping (RowBatch) throws(StorageError) -> Void) -> RowSource {
        var source = self
        source.check = check
        return source
    }

    /// Calls `body` with the rows, in batches of at most `scratch.capacity` rows.
    public func forEachBatch(_ scratch: RowBatch, _ body: (RowBatch) throws(StorageError) -> Void) throws(StorageError) {
        var start = 0
        while start < count {
            let end = min(start + scratch.capacity, count)
            scratch.clear()
            encode(start..<end, scratch)
            try check?(scratch)
            try body(scratch)
            start = end
        }
    }
}

/// A row to delete.
public struct RowDeletion: Sendable, Hashable {
    /// The primary key of the row.
    public let key: Int64
    /// The version that the stored row must have, or nil if any version is accepted.
    public let expectedVersion: Int64?
    /// The version that the row had when it was read, or 0 if it is not known. A store that repeats the deletion uses it.
    public let version: Int64

    /// Creates a deletion. `expectedVersion`, if given, is also the value of `version`.
    public init(key: Int64, expectedVersion: Int64? = nil, version: Int64 = 0) {
        self.key = key
        self.expectedVersion = expectedVersion
        self.version = expectedVersion ?? version
    }
}

/// An update of rows of one entity in which the same attributes change.
public struct RowUpdate {
    /// The slots to write. Cells of other slots are ignored. An empty mask only increments the version.
    public let mask: SlotMask
    /// Whether the stored version of each row must equal the version given in the batch. The update increments the stored version by 1.
    public let checksVersion: Bool
    /// The rows. Each row has all cells of the entity's layout; cells outside the mask are null.
    public let rows: RowSource

    /// Creates an update of the slots of `mask`.
    public init(mask: SlotMask, checksVersion: Bool, rows: RowSource) {
        self.mask = mask
        self.checksVersion = checksVersion
        self.rows = rows
    }
}

/// The changes of one concrete entity.
public struct EntityChanges {
    /// The entity of all the rows.
    public let entity: EntityIndex
    /// Rows to delete.
    public var deletes: [RowDeletion]
    /// Rows to update, grouped by the slots that change.
    public var updates: [RowUpdate]
    /// Rows to insert, with version 1.
    public var inserts: RowSource?

    /// Creates the changes of an entity.
    public init(entity: EntityIndex, deletes: [RowDeletion] = [], updates: [RowUpdate] = [], inserts: RowSource? = nil) {
        self.entity = entity
        self.deletes = deletes
        self.updates = updates
        self.inserts = inserts
    }
}

/// The changes of one link table.
public struct LinkChanges: Sendable, Hashable {
    /// The position of the table in `Schema.links`.
    public let link: Int
    /// Pairs to remove, identified by owner and member. Removing a pair that does not exist has no effect.
    public var removed: [Link]
    /// Pairs to add. Adding a pair that exists replaces its rank.
    public var added: [Link]

    /// Creates the changes of a link table.
    public init(link: Int, removed: [Link] = [], added: [Link] = []) {
        self.link = link
        self.removed = removed
        self.added = added
    }
}

/// All changes that one flush or commit applies to one store.
public struct ChangeSet {
    /// The changes by entity. Each entity occurs at most once.
    public var entities: [EntityChanges]
    /// The changes by link table. Each table occurs at most once.
    public var links: [LinkChanges]

    /// Creates a change set, by default an empty one.
    public init(entities: [EntityChanges] = [], links: [LinkChanges] = []) {
        self.entities = entities
        self.links = links
    }

    /// Whether the change set contains no changes.
    public var isEmpty: Bool { entities.isEmpty && links.isEmpty }
}

/// The author and the time of a commit.
public struct CommitRecord: Sendable {
    /// The author that the program gives, or an empty string.
    public var author: String
    /// The time of the commit in microseconds since 1970, or nil for the current time.
    public var time: Int64?

    /// Creates a record, by default without an author and with the current time.
    public init(author: String = "", time: Int64? = nil) {
        self.author = author
        self.time = time
    }
}
