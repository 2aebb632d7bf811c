/// The speed of a backfill, chosen so that other programs are hardly affected.
public struct BackfillPace: Sendable, Hashable {
    /// The maximum number of objects in one transaction, at least 1.
    public let batchSize: Int
    /// The number of seconds to wait between two transactions, from 0 to 3,600.
    public let pause: Double

    /// Creates a pace. A value that is out of bounds is replaced by the nearest permitted one.
    public init(batchSize: Int = 1000, pause: Double = 0) {
        self.batchSize = max(batchSize, 1)
        self.pause = pause.isNaN ? 0 : min(max(pause, 0), 3600)
    }
}
