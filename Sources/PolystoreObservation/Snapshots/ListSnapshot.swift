public import PolystoreFoundation
public import PolystoreObjects

/// The contents of a list at one moment: the identities of its objects in order, divided into sections.
///
/// It is a value: it can be sent, kept and compared, and does not change with the list. Identities are created on access, so a snapshot
/// takes sixteen bytes for an object. Snapshots are equal if they have the same objects in the same sections and order, regardless of the
/// updated objects.
///
/// Subscripts trap for invalid positions, as those of an array do. Those whose labels begin with `safe` return nil.
public struct ListSnapshot<Object: ManagedObject>: Sendable {
    /// The contents of the list.
    var contents: ListContents {
        didSet {
            starts = SectionStarts(contents.sections)
            finder = ItemIndex()
        }
    }
    /// The stores of its items.
    var stores: ListStores
    /// The items whose values differ from those in the previous snapshot.
    var updated: Set<ListContents.Item>
    /// Whether the updated items are unknown, so that all may have changed.
    var isAnew = false
    /// The start positions of the sections.
    private(set) var starts: SectionStarts
    /// The positions of items.
    private(set) var finder = ItemIndex()

    /// Creates the snapshot of a list. `stores` must include the stores of all its items.
    init(_ contents: ListContents, stores: ListStores, updated: Set<ListContents.Item> = []) {
        self.contents = contents
        self.stores = stores
        self.updated = updated
        starts = SectionStarts(contents.sections)
    }

    /// Creates an empty list without sections.
    public init() {
        self.init(ListContents(), stores: ListStores())
    }

    /// Returns the identity of an item of the list.
    func id(of item: ListContents.Item) -> ObjectID<Object> { ObjectID(stores.key(of: item)) }
}

// MARK: Objects in order

extension ListSnapshot: RandomAccessCollection {
    /// The start index, zero.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { contents.items.count }

    /// Returns the object at a position among all.
    public subscript(position: Int) -> ObjectID<Object> { id(of: contents.items[position]) }

    /// Returns the object at a position among all; nil if there is none.
    public subscript(safeIndex position: Int) -> ObjectID<Object>? { indices.contains(position) ? self[position] : nil }

    /// Returns the object of a section at a position in it.
    public subscript(section: Int, item: Int) -> ObjectID<Object> { sections[section][item] }

    /// Returns the object of a section at a position in it; nil if there is none.
    public subscript(safeSection section: Int, safeItem item: Int) -> ObjectID<Object>? {
        starts.position(section: section, item: item).map { self[$0] }
    }

    /// Returns the object at an index path.
    public subscript(indexPath: IndexPath) -> ObjectID<Object> { self[indexPath[0], indexPath[1]] }

    /// Returns the object at an index path; nil if there is none.
    public subscript(safeIndexPath indexPath: IndexPath) -> ObjectID<Object>? { starts.position(of: indexPath).map { self[$0] } }
}

extension ListSnapshot {
    /// The number of objects.
    public var numberOfItems: Int { contents.items.count }
    /// The number of sections, empty ones included; a list without sections has one.
    public var numberOfSections: Int { contents.sections.count }
    /// All objects in order.
    public var itemIDs: [ObjectID<Object>] { Array(self) }
    /// The objects whose values differ from those in the previous snapshot, without objects inserted since.
    public var updatedItemIDs: Set<ObjectID<Object>> { Set(updated.map(id)) }
}

// MARK: Comparing

extension ListSnapshot: Hashable {
    /// Returns whether both have the same objects in the same sections and order.
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

extension ListSnapshot {
    /// Returns the position of an object among all; nil if the list does not contain it. The first search traverses the list, later ones
    /// take constant time.
    public func index(of id: ObjectID<Object>) -> Int? {
        stores.item(of: id.key).flatMap { finder.position(of: $0, in: contents.items) }
    }

    /// Returns the index path of an object; nil if the list does not contain it.
    public func indexPath(of id: ObjectID<Object>) -> IndexPath? { index(of: id).map(starts.path) }

    /// Returns whether the list contains an object.
    public func contains(_ id: ObjectID<Object>) -> Bool { index(of: id) != nil }
}
