/// The distance between a consumer's offset and the newest entry.
package struct HistoryOffsetLag: Sendable, Hashable {
    /// The number of entries that the consumer has not processed.
    package var transactions: Int
    /// The time of the first of these entries, in microseconds since 1970, or nil if there is none.
    package var oldest: Int64?
}
