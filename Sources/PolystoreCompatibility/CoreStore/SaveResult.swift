internal import Dispatch
internal import Polystore

/// The result of a commit in CoreStore 1.
public enum SaveResult: Sendable {
    /// The commit succeeded. `hasChanges` indicates whether there were changes to commit.
    case success(hasChanges: Bool)
    /// Nothing was committed, because of the given error.
    case failure(any Error)
}
