/// An ability of a session. It is looked up when it is first needed, so that a short session does not pay for abilities that it does not
/// use.
enum SessionAbility<Ability> {
    case unknown
    case absent
    case present(Ability)

    /// Returns the ability of a session, or nil if the session lacks it.
    @inline(__always)
    mutating func find(in session: any StorageReader) -> Ability? {
        switch self {
        case .present(let ability): return ability
        case .absent: return nil
        case .unknown:
            let found = session.ability(Ability.self)
            self = found.map(Self.present) ?? .absent
            return found
        }
    }
}
