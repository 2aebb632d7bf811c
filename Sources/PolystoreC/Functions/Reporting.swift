internal import Foundation
internal import PolystoreStorage

/// Runs a function, and gives the caller its error.
///
/// - Parameters:
///   - error: The variable of the caller; nil if the caller does not want to know.
///   - failure: The result after an error.
func reporting<R>(_ error: UnsafeMutablePointer<OpaquePointer?>?, _ failure: R, _ body: () throws -> R) -> R {
    error?.pointee = nil
    do { return try body() } catch let thrown {
        if let error { error.pointee = HandleTable.insert(ErrorHandle(StorageError(of: thrown))) }
        return failure
    }
}

/// Runs a function without a result. Returns 0, or 1 after an error.
func reporting(_ error: UnsafeMutablePointer<OpaquePointer?>?, _ body: () throws -> Void) -> Int32 {
    reporting(error, 1) {
        try body()
        return 0
    }
}

/// Runs a function whose result is a text that the caller frees.
func reportingText(
    _ error: UnsafeMutablePointer<OpaquePointer?>?, _ body: () throws -> String
) -> UnsafeMutablePointer<CChar>? {
    reporting(error, nil) { strdup(try body()) }
}

extension StorageError {
    /// The error itself, or one that stands for an error of another type.
    init(of error: any Error) { self = (error as? StorageError) ?? StorageError(.inputOutput, "\(error)", cause: error) }
}

extension String {
    /// Copies a text of the caller.
    ///
    /// - Parameter noun: What the text is, for messages.
    /// - Throws: `invalidConfiguration` for null, and for a text that is not UTF-8.
    init(argument text: UnsafePointer<CChar>?, _ noun: String) throws(StorageError) {
        guard let text else { throw StorageError(.invalidConfiguration, "\(noun) is null") }
        guard let valid = String(validatingCString: text) else {
            throw StorageError(.invalidConfiguration, "\(noun) is not valid UTF-8")
        }
        self = valid
    }
}
