internal import ArgumentParser
internal import PolystoreTransfer

/// The form in which the target of a transfer keeps the objects.
enum TransferLayout: String, ExpressibleByArgument, CaseIterable {
    /// The form of a store.
    case polystore
    /// Tables as a person would declare them in SQL.
    case plain

    /// Refuses options that the form does not have.
    func check(_ existing: TransferOptions.ExistingObjects, isMapped: Bool) throws {
        if self == .plain, isMapped {
            throw ValidationError(
                "--layout plain keeps names and types; transfer to a store with --rename and --type, and from there to plain tables")
        }
        if self == .plain, existing != .fail {
            throw ValidationError(
                "--layout plain makes new tables, so --if-exists can only be fail; to change existing tables, transfer to the database in place"
            )
        }
    }
}
