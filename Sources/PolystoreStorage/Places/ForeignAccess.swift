/// The use of a database that another program created.
public enum ForeignAccess: Sendable, Hashable {
    /// The database is only read.
    case readOnly
    /// The database is read and written in place, beside the other program.
    case inPlace
}
