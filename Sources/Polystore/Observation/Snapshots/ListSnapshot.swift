public import Foundation

/// What a list held at one moment: the identities of its objects in order, cut into sections.
///
/// It is a value: it can be sent, kept and compared, and does not change when the list does. An identity is made when it is asked for, so
/// a snapshot takes sixteen bytes for an object. Snapshots are equal that have the same objects in the same sections and order, whatever
/// was updated in them.
///
/// Subscripts trap, as those of an array do, where there is nothing; those whose labels begin with `safe` give nil.
public struct ListSnapshot<Object: ManagedObject>: Sendable {
    /// What the list holds.
    var contents: ListContents {
        didSet {
            starts = SectionStarts(contents.sections)
            finder = ItemIndex()
        }
    }
    /// Where its items are from.
    var stores: ListStores
    /// The items whose values are others than in the snapshot before.
    var updated: Set<ListContents.Item>
    /// Whether nobody knows which these are, so that it may be all.
    var isAnew = false
    /// Where the sections begin.
    private(set) var starts: SectionStarts
    /// Finds items.
    private(set) var finder = ItemIndex()

    /// The snapshot of a list; the stores of all its items must be among those given.
    init(_ contents: ListContents, stores: ListStores, updated: Set<ListContents.Item> = []) {
        self.contents = contents
        self.stores = stores
        self.updated = updated
        starts = SectionStarts(contents.sections)
    }

    /// An empty list without sections, to begin with.
    public init() {
        self.init(ListContents(), stores: ListStores())
    }

    /// The identity of an item of the list.
    func id(of item: ListContents.Item) -> ObjectID<Object> { ObjectID(stores.key(of: item)) }
}

// MARK: The objects in order

extension ListSnapshot: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { contents.items.count }

    /// The object at a position among all.
    public subscript(position: Int) -> ObjectID<Object> { id(of: contents.items[position]) }

    /// The object at a position among all; nil where there is none.
    public subscript(safeIndex position: Int) -> ObjectID<Object>? { indices.contains(position) ? self[position] : nil }

    /// The object of a section at a position in it.
    public subscript(section: Int, item: Int) -> ObjectID<Object> { sections[section][item] }

    /// The object of a section at a position in it; nil where there is none.
    public subscript(safeSection section: Int, safeItem item: Int) -> ObjectID<Object>? {
        starts.position(section: section, item: item).map { self[$0] }
    }

    /// The object at an index path.
    public subscript(indexPath: IndexPath) -> ObjectID<Object> { self[indexPath[0], indexPath[1]] }

    /// The object at an index path; nil where there is none.
    public subscript(safeIndexPath indexPath: IndexPath) -> ObjectID<Object>? { starts.position(of: indexPath).map { self[$0] } }
}

extension ListSnapshot {
    /// The number of objects.
    public var numberOfItems: Int { contents.items.count }
    /// The number of sections, empty ones included; a list without sections has one.
    public var numberOfSections: Int { contents.sections.count }
    /// All objects in order.
    public var itemIDs: [ObjectID<Object>] { Array(self) }
    /// The objects whose values are others than in the snapshot before; objects that have come since are not among them.
    public var updatedItemIDs: Set<ObjectID<Object>> { Set(updated.map(id)) }
}

// MARK: Comparing

extension ListSnapshot: Hashable {
    /// Whether both have the same objects in the same sections and order.
    public static func == (one: ListSnapshot, other: ListSnapshot) -> Bool {
        if one.stores == other.stores { return one.contents == other.contents }
        // The same stores may have other positions.
        return one.contents.sections == other.contents.sections && one.elementsEqual(other)
    }

    /// Hashes the names of the sections and the keys.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(contents.sections)
        for item in contents.items { hasher.combine(item.key) }
    }
}
