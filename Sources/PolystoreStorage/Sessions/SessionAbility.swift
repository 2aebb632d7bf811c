/// An ability of a session, looked for when it is first needed: a short session does not pay for those that it does not use.
enum SessionAbility<Ability> {
    case unknown
    case absent
    case present(Ability)

    /// The ability of a session; nil where it lacks it.
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
