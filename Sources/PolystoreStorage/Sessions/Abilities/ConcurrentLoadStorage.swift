/// A store into which several transactions of one bulk load write at the same time.
///
/// Such a transaction has the part `.part` and `sharesLoad` in its options. It loads rows and pairs, reads and writes notes, and does nothing
/// else. No other transaction changes a note that it has read before it has ended.
///
/// A transaction with the part `.part` that runs alone precedes them, and loads a batch into each hierarchy, which can be empty: it does what
/// the others cannot do beside each other.
package protocol ConcurrentLoadStorage: StorageInterface {
    /// The maximum number of such transactions.
    var concurrentLoads: Int { get }
}
