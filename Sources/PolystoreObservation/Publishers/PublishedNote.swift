internal import Observation
internal import Synchronization

/// The record of one or more steps of a published value.
protocol PublishedNote: Sendable {
    /// The size of the record.
    var size: Int { get }
    /// The record without the parts that determine its size.
    var forgotten: Self { get }

    /// Returns one note for two consecutive steps; nil if a consumer that has seen the first must not receive both.
    func joined(with next: Self) -> Self?
}

extension PublishedNote {
    var size: Int { 0 }
    var forgotten: Self { self }
}
