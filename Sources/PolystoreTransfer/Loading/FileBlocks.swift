public import Foundation

/// The contents of a file, one block after another, so that a file need not fit into memory.
public struct FileBlocks {
    private let next: () throws -> Data?

    /// The blocks that a closure gives; nil comes after the last.
    public init(_ next: @escaping () throws -> Data?) { self.next = next }

    /// Contents that are in memory.
    public init(_ data: Data) {
        var rest: Data? = data
        self.init {
            defer { rest = nil }
            return rest
        }
    }

    /// The next block; nil at the end.
    func block() throws -> Data? { try next() }
}
