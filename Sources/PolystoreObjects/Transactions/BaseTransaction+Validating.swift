public import PolystoreStorage

extension BaseTransaction {
    /// Validates what the transaction has changed so far against the rules of the model, as the commit does, for example before a form is
    /// closed.
    ///
    /// Objects do not prepare themselves: `willSave` of a ``SaveAwareObject`` is called only by the commit, as Core Data calls it only to save
    /// and not for `validateForInsert` and `validateForUpdate`. What only `willSave` assigns is therefore reported here as not assigned.
    /// `validate` of a ``ValidatableObject`` is called. Nothing is changed, and the transaction can go on after an error. The commit validates again; unique constraints,
    /// delete rules and conflicts with other transactions are the concern of the stores and not examined here.
    /// - Throws: `validationFailed` with all failures in its details, as the commit would throw it; any error of loading what a rule reads;
    ///   in the closure of `perform`, also what the next access to a store would throw, such as `cancelled`.
    public final func validate() throws(StorageError) {
        try reporting { () throws(StorageError) in
            try checkUsable()
            try context.validateUnprepared()
        }
    }
}
