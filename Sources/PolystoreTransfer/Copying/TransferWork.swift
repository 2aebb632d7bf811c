package import PolystoreStorage

/// A transfer that reads its source.
package struct TransferWork {
    let reader: ReadSession
    /// The mapped model; nil if the target has the model of the source.
    let model: MappedModel?
    /// The options.
    package let options: TransferOptions
    /// The objects that are copied; nil if they depend on the target.
    let scope: TransferScope?
    /// The number of values that the copy has in a changed form, by attribute; nil if it depends on the target.
    let changedValues: [String: Int]?

    /// The model of the target.
    package var schema: Schema { model?.schema ?? reader.schema }

    /// Ends the reading.
    package func end() { reader.end() }
}
