public import PolystoreFoundation

/// The changes from one state of a list to the next. Deletions and the sources of moves are index paths of the old list, insertions and the
/// destinations of moves those of the new one.
///
/// Applied to the old list they result in the new one: remove the deleted and moved items and the deleted sections, insert the inserted
/// sections, then insert the inserted and moved items in the order of their index paths. An item of a deleted section is itself deleted or
/// moved; one of an inserted section is itself inserted or moved. The number of moved items is minimal; of solutions with equally few
/// moves, one keeps as many sections as possible.
public struct ListChanges: Sendable, Hashable {
    /// An item that is in both lists, at another position relative to the others.
    public struct Move: Sendable, Hashable {
        /// The index path in the old list.
        public let from: IndexPath
        /// The index path in the new list.
        public let to: IndexPath

        /// Creates a move.
        public init(from: IndexPath, to: IndexPath) {
            self.from = from
            self.to = to
        }
    }

    /// A section that is in both lists, at another position relative to the others. Its items move with it.
    public struct SectionMove: Sendable, Hashable {
        /// The position in the old list.
        public let from: Int
        /// The position in the new list.
        public let to: Int

        /// Creates a move of a section.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The sections of the old list that are not in the new one, or changed their position relative to the others, ascending.
    public var deletedSections: [Int] = []
    /// The sections of the new list that were not in the old one, or were at another position relative to the others, ascending.
    public var insertedSections: [Int] = []
    /// Items of the old list that are not in the new one, ascending.
    public var deleted: [IndexPath] = []
    /// Items of the new list that were not in the old one, ascending.
    public var inserted: [IndexPath] = []
    /// Items that changed their position relative to the others, ascending by destination.
    public var moved: [Move] = []
    /// Items that are in both lists and whose values changed: their index paths in the old list, ascending, including moved ones.
    public var updated: [IndexPath] = []

    /// Creates empty changes.
    public init() {}

    /// Whether there are no changes.
    public var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty
    }
}
