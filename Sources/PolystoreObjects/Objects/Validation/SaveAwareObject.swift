internal import PolystoreStorage

/// An object that is notified before it is saved, for example to update derived values.
public protocol SaveAwareObject: ManagedObject {
    /// Prepares the object for saving. Called at commit for each new or changed object, before the rules are validated. The method may
    /// change this object and others, create and delete objects. Objects that it changes are called too, if they were not yet.
    ///
    /// Not called for deleted objects, nor for the rows of `insertAll`, `upsertAll` and SQL statements. `updateAll` calls it.
    func willSave()
}
