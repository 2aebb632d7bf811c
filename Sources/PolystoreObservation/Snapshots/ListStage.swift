public import PolystoreFoundation
public import PolystoreObjects

/// One step of the transition between two snapshots of a list, which any front end can apply at once.
///
/// A step is of one kind: only updates; insertions of sections with their new objects; moves of whole sections; changes of objects among
/// sections that exist before and after; deletions of sections with their remaining objects. It is the transition from the snapshot of the
/// previous step to its own. Only the library creates steps, so their index paths are valid.
public struct ListStage<Object: ManagedObject>: Sendable {
    /// The moved sections, ascending by destination. If there are any, nothing else changes.
    public let movedSections: [ListChanges.SectionMove]
    /// The other changes.
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
    /// The objects to remove one by one, by their index paths before the step, without those deleted with their section.
    public var deletedItems: [IndexPath] { changes.deletedSections.isEmpty ? changes.deleted : [] }

    /// The objects to insert one by one, by their index paths after the step, without those inserted with their section.
    public var insertedItems: [IndexPath] { changes.insertedSections.isEmpty ? changes.inserted : [] }

    /// The number of changes.
    public var count: Int {
        movedSections.count + changes.deletedSections.count + changes.insertedSections.count + deletedItems.count + insertedItems.count
            + changes.moved.count + changes.updated.count
    }
}
