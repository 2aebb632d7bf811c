internal import PolystoreStorage

/// An object that is notified before it is saved, for example to update derived values.
public protocol SaveAwareObject: ManagedObject {
    /// Prepares the object for saving. Called at commit for each new or changed object, before the rules are validated. The method may
    /// change this object and others, create and delete objects. Objects that it changes are called too, if they were not yet.
    ///
    /// A required attribute that the method assigns counts as assigned, whatever the value is. An attribute that was never assigned reads as
    /// the placeholder of its type, such as an empty text. So a method that normalizes an attribute, as in `email = email.lowercased()`, first
    /// asks ``ManagedObjectIdentity/hasBeenAssigned(_:)``: otherwise it assigns the placeholder, and the commit no longer reports that the attribute is missing.
    ///
    /// Not called for deleted objects, nor for the rows of `insertAll`, `upsertAll` and SQL statements. `updateAll` calls it.
    func willSave()
}
