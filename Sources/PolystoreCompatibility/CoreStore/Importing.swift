public import Polystore

extension BaseTransaction {
    /// Updates an object of the transaction from a source, as if it were new, unless its class rejects the source.
    public func importObject<O: ImportableObject>(_ object: O, source: O.ImportSource) throws {
        guard type(of: object).shouldInsert(from: source, in: self) else { return }
        try object.didInsert(from: source, in: self)
    }
}
