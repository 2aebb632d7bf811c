/// Whether updates of several contexts may run concurrently.
public enum UpdateOrder: Sendable {
    /// Updates may run concurrently. Conflicts are detected at commit.
    case `default`
    /// Only one `perform` runs at a time in the whole stack.
    case serial
}
