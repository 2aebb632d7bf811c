/// The first thing in which two schemas differ, in one sentence.
public struct SchemaDifference: Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// The first difference in what is stored, in the canonical order of the old schema; nil when there is none.
    public static func first(from old: Schema, to new: Schema) -> SchemaDifference? {
        new.changes(since: old).first.map { SchemaDifference(description: $0.description) }
    }
}
