package import PolystoreStorage

/// A transfer that reads its source.
package struct TransferWork {
    /// The objects that are copied.
    struct Found {
        let scope: TransferScope
        /// The number of values that the copy has in a changed form, by attribute.
        let changedValues: [String: Int]
        /// The number of rows that were rejected before.
        let rejected: Int
    }

    let reader: ReadSession
    /// The mapped model; nil if the target has the model of the source.
    let model: MappedModel?
    /// The options.
    package let options: TransferOptions
    /// The rows that are left out; nil if the first one that cannot be copied ends the transfer.
    let rejects: RejectedRows?
    /// The objects that are copied; nil if they depend on the target.
    private(set) var found: Found?

    init(reader: ReadSession, model: MappedModel?, options: TransferOptions, rejects: RejectedRows?) {
        self.reader = reader
        self.model = model
        self.options = options
        self.rejects = rejects
    }

    /// The model of the target.
    package var schema: Schema { model?.schema ?? reader.schema }

    /// The objects that are copied; nil if they depend on the target.
    var scope: TransferScope? { found?.scope }

    /// Whether the target has refused rows that are left out.
    package var hasRefusedRows: Bool { rejects?.areRefused == true }

    /// Returns the transfer of known objects.
    func found(_ found: Found) -> TransferWork {
        var work = self
        work.found = found
        return work
    }

    /// Ends the reading.
    package func end() { reader.end() }
}
