public import Foundation

/// What leads from one state of a list to the next: deletions and moves are named by the index paths of the old list, insertions and
/// the ends of moves by those of the new one.
///
/// Applied to the old list it gives the new one: take out the deleted and moved items and the deleted sections, put in the inserted
/// sections, then the inserted and moved items in the order of their index paths. An item of a deleted section is deleted or moved by
/// itself; one of an inserted section likewise inserted or moved. As few items as possible are moved; of ways with as few moves, one that
/// keeps as many sections as possible.
public struct ListChanges: Sendable, Hashable {
    /// An item that is in both lists, at another place among the others.
    public struct Move: Sendable, Hashable {
        /// The place in the old list.
        public let from: IndexPath
        /// The place in the new list.
        public let to: IndexPath

        /// A move.
        public init(from: IndexPath, to: IndexPath) {
            self.from = from
            self.to = to
        }
    }

    /// A section that is in both lists, at another place among the others; its items go with it.
    public struct SectionMove: Sendable, Hashable {
        /// The place in the old list.
        public let from: Int
        /// The place in the new list.
        public let to: Int

        /// A move of a section.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The sections of the old list that are not in the new one, or changed their place among the others, ascending.
    public var deletedSections: [Int] = []
    /// The sections of the new list that were not in the old one, or were at another place among the others, ascending.
    public var insertedSections: [Int] = []
    /// Items of the old list that are not in the new one, ascending.
    public var deleted: [IndexPath] = []
    /// Items of the new list that were not in the old one, ascending.
    public var inserted: [IndexPath] = []
    /// Items that changed their place among the others, ascending by where they went.
    public var moved: [Move] = []
    /// Items that are in both lists and whose values changed: their places in the old list, ascending; moved ones are among them.
    public var updated: [IndexPath] = []

    /// No changes.
    public init() {}

    /// Whether there are none.
    public var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty
    }
}
