/// A store in a place that others use too, where whoever made a store can take it back only as long as nobody uses it.
package protocol WithdrawableStorage: StorageInterface {
    /// Closes the store, and removes it unless somebody has put something into it.
    ///
    /// *Behavior*: waits for write transactions that are running; what they put into the store stays.
    func withdraw() throws(StorageError)
}
