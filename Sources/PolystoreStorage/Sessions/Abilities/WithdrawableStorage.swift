/// A store in a shared location, whose creator may remove it again only as long as no other program uses it.
package protocol WithdrawableStorage: StorageInterface {
    /// Closes the store, and removes it unless data was added to it.
    ///
    /// *Behavior*: waits for running write transactions. Data that they add to the store is kept.
    func withdraw() throws(StorageError)
}
