internal import PolystoreStorage

/// The names of the fields of a record. The records of a file of separated values share one.
final class LoadLayout {
    /// The position of each field by its name.
    let positions: [ExactText: Int]

    /// Creates the layout of a record.
    init(_ positions: [ExactText: Int]) { self.positions = positions }
}
