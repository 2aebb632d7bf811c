public import Foundation

/// One step on the way from one snapshot of a list to another, which any front end can make at once.
///
/// A step is of one kind: updates alone; sections that come, with their new objects; whole sections that move; changes of objects among
/// sections that are there before and after; sections that go, with what is left in them. It leads from the snapshot of the step
/// before to its own. Only the library makes steps, so their index paths exist.
public struct ListStage<Object: ManagedObject>: Sendable {
    /// The sections that change their places, ascending by where they go; then nothing else changes.
    public let movedSections: [ListChanges.SectionMove]
    /// What else changes.
    public let changes: ListChanges
    /// The list after the step.
    public let snapshot: ListSnapshot<Object>

    init(movedSections: [ListChanges.SectionMove], changes: ListChanges, snapshot: ListSnapshot<Object>) {
        self.movedSections = movedSections
        self.changes = changes
        self.snapshot = snapshot
    }
}

extension ListStage {
    /// The objects to take out one by one, by their places before the step: those that go with their section are not among them.
    public var deletedItems: [IndexPath] { changes.deletedSections.isEmpty ? changes.deleted : [] }

    /// The objects to put in one by one, by their places after the step: those that come with their section are not among them.
    public var insertedItems: [IndexPath] { changes.insertedSections.isEmpty ? changes.inserted : [] }

    /// How many things change.
    public var count: Int {
        movedSections.count + changes.deletedSections.count + changes.insertedSections.count + deletedItems.count + insertedItems.count
            + changes.moved.count + changes.updated.count
    }
}
