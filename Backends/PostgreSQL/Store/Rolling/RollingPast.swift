#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The past version in which programs of the older version read history entries of sessions of the newer one.
struct RollingPast: Sendable {
    let past: PastVersion
    /// The position of the step.
    let since: Int64
}
#endif
