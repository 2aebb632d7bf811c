internal import PolystoreStorage

/// A transfer that reads its source.
package struct TransferWork {
    let reader: ReadSession
    /// The options.
    package let options: TransferOptions
    /// The objects that are copied; nil if they depend on the target.
    let scope: TransferScope?

    /// Ends the reading.
    package func end() { reader.end() }
}
