internal import PolystoreStorage

/// A function of the program, and the context that it is called with.
///
/// Unchecked: both are addresses that the library only passes on. What they lead to belongs to the program, which `polystore.h` tells on which
/// threads it is called.
struct CallBack<Function>: @unchecked Sendable {
    let function: Function
    let context: UnsafeMutableRawPointer?

    /// - Throws: `invalidConfiguration` for a null function.
    init(_ function: Function?, _ context: UnsafeMutableRawPointer?) throws(StorageError) {
        guard let function else { throw StorageError(.invalidConfiguration, "the call-back is null") }
        self.function = function
        self.context = context
    }
}
