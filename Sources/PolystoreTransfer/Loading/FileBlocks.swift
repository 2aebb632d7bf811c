package import Foundation

/// The contents of a file as a sequence of blocks, so that a file need not fit into memory.
package struct FileBlocks {
    private let next: () throws -> Data?

    /// Creates blocks from a closure, which returns nil after the last block.
    package init(_ next: @escaping () throws -> Data?) { self.next = next }

    /// Creates a single block from data in memory.
    package init(_ data: Data) {
        var rest: Data? = data
        self.init {
            defer { rest = nil }
            return rest
        }
    }

    /// Returns the next block, or nil at the end.
    package func block() throws -> Data? { try next() }
}
