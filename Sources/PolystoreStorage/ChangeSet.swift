/// Rows that can be encoded into batches, as often as a store asks for them, so that no second copy of a large change is held.
public struct RowSource {
    /// The number of rows.
    public let count: Int
    private let encode: (Range<Int>, RowBatch) -> Void
    private var check: ((RowBatch) throws(StorageError) -> Void)?

    /// A source of `count` rows; `encode` appends the rows of a range to a batch.
    public init(count: Int, encode: @escaping (Range<Int>, RowBatch) -> Void) {
        self.count = count
        self.encode = encode
    }

    /// The same rows with a check of each batch before it is handed over.
    func checked(_ check: @escaping (RowBatch) throws(StorageError) -> Void) -> RowSource {
        var source = self
        source.check = check
        return source
    }

    /// Hands the rows over in batches of at most `scratch.capacity` rows.
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

/// A row that is to be deleted.
public struct RowDeletion: Sendable, Hashable {
    /// The key.
    public let key: Int64
    /// The version that it must have; nil for any.
    public let expectedVersion: Int64?
    /// The version that it was seen with, for whoever has to repeat the deletion; 0 if that is not known.
    public let version: Int64

    /// A deletion.
    public init(key: Int64, expectedVersion: Int64? = nil, version: Int64 = 0) {
        self.key = key
        self.expectedVersion = expectedVersion
        self.version = expectedVersion ?? version
    }
}

/// Rows of one entity whose same attributes change.
public struct RowUpdate {
    /// The slots that are written. The cells of other slots are not looked at. It may be empty: only the version rises.
    public let mask: SlotMask
    /// Whether the version of each row, as given in the batch, must be the stored one. The stored version becomes the old one plus 1.
    public let checksVersion: Bool
    /// The rows; each batch row has all cells of the entity's layout, those outside the mask null.
    public let rows: RowSource

    /// An update.
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
    /// Rows to change, grouped by what changes.
    public var updates: [RowUpdate]
    /// Rows to add, with version 1.
    public var inserts: RowSource?

    /// Changes of an entity.
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
    /// Pairs to remove, by owner and member; removing one that is not there does nothing.
    public var removed: [Link]
    /// Pairs to add; adding one that is there gives it the new rank.
    public var added: [Link]

    /// Changes of a link table.
    public init(link: Int, removed: [Link] = [], added: [Link] = []) {
        self.link = link
        self.removed = removed
        self.added = added
    }
}

/// All changes that one flush or commit brings to one store.
public struct ChangeSet {
    /// The changes by entity, each entity at most once.
    public var entities: [EntityChanges]
    /// The changes by link table, each at most once.
    public var links: [LinkChanges]

    /// A change set.
    public init(entities: [EntityChanges] = [], links: [LinkChanges] = []) {
        self.entities = entities
        self.links = links
    }

    /// Whether there is nothing to write.
    public var isEmpty: Bool { entities.isEmpty && links.isEmpty }
}

/// Who commits.
public struct CommitRecord: Sendable {
    /// The author as given by the program; empty for none.
    public var author: String
    /// The time of the commit in microseconds since 1970; nil for now.
    public var time: Int64?

    /// A record.
    public init(author: String = "", time: Int64? = nil) {
        self.author = author
        self.time = time
    }
}
