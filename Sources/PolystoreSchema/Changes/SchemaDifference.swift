/// The first difference between two schemas, as a sentence.
package struct SchemaDifference: Sendable, Hashable, CustomStringConvertible {
    /// The sentence that describes the difference.
    package let description: String

    /// Returns the first difference between the stored forms, in the canonical order of the old schema, or nil if there is none.
    package static func first(from old: Schema, to new: Schema) -> SchemaDifference? {
        new.changes(since: old).first.map { SchemaDifference(description: $0.description) }
    }
}
