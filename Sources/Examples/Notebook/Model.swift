import Foundation
import Polystore
import PolystoreMacros

/// A note with a text and tags.
@Model final class Note: ManagedObject {
    /// The number by which people name the note.
    @Attribute(.unique) var number: Int
    var text: String
    var created: Date = Date()
    @Relationship(inverse: \Tag.notes) var tags: Set<Tag>
}

/// A word by which notes are found.
@Model final class Tag: ManagedObject {
    @Attribute(.unique) var name: String
    @Relationship var notes: Set<Note>
}
