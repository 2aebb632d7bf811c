internal import PolystoreStorage

/// The limits of the speed and the memory of a transfer.
public struct TransferPace: Sendable {
    /// The maximum number of rows and pairs per second; nil for no limit.
    public var rowsPerSecond: Double?
    /// The maximum size of the values per second, in bytes; nil for no limit.
    public var bytesPerSecond: Double?
    /// The memory for rows that are read but not yet written or not yet committed, in bytes. By default rows are read in batches of 8 MiB, and
    /// the size of a step is not limited.
    ///
    /// It does not include what stores and the program need otherwise, and a row that is larger is copied as it is.
    public var memoryBytes: Int?
    /// Returns whether the copy has to wait. It is asked between batches; a step is committed before the copy waits.
    public var isPaused: (@Sendable () -> Bool)?

    /// Creates a pace without limits.
    public init() {}

    /// Refuses limits with which nothing could be copied.
    func check() throws(StorageError) {
        for rate in [rowsPerSecond, bytesPerSecond].compactMap({ $0 }) where !(rate > 0 && rate.isFinite) {
            throw StorageError(.invalidConfiguration, "the rate of a transfer is a number above 0")
        }
        if let memoryBytes, memoryBytes < 1 << 20 {
            throw StorageError(.invalidConfiguration, "the memory of a transfer is at least 1 MiB")
        }
    }
}
