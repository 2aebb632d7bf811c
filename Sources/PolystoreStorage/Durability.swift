/// The guarantee that a store gives when it acknowledges a commit.
public enum Durability: String, Sendable, Hashable, Codable {
    /// The commit survives a crash of the process and a loss of power.
    case full
    /// The commit survives a crash of the process. A loss of power may discard the newest commits but never affects consistency.
    case relaxed
}
