#if PostgreSQL
/// A kind of change that triggers and rules react to, as its bit in `pg_trigger.tgtype`.
enum PostgreSQLInPlaceEvent: Int {
    case insert = 4, delete = 8, update = 16

    /// The number of the event in `pg_rewrite.ev_type`.
    var rule: Int { self == .insert ? 3 : self == .delete ? 4 : 2 }
}
#endif
