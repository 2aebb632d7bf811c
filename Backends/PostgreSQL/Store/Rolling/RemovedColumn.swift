#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A column that only the older version has.
struct RemovedColumn {
    let name: String
    /// The values for objects that programs of the newer version create: the defaults of the attribute.
    let constants: [(constant: String, scope: RollingColumn.Scope)]
}
#endif
