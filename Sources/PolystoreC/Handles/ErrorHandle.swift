internal import Foundation
internal import PolystoreStorage

/// The reason of a failure, with its texts in the form of C.
final class ErrorHandle: Handle {
    static var noun: String { "an error" }

    // The texts do not change after the initializer, and live as long as the handle.
    nonisolated(unsafe) let code: UnsafePointer<CChar>?
    nonisolated(unsafe) let message: UnsafePointer<CChar>?
    nonisolated(unsafe) let details: UnsafePointer<CChar>?
    let isRetryable: Bool

    init(_ error: StorageError) {
        code = UnsafePointer(strdup(error.code.description))
        message = UnsafePointer(strdup(error.message))
        details = UnsafePointer(strdup(ErrorJSON.text(error.details)))
        isRetryable = error.isRetryable
    }

    deinit { for text in [code, message, details] { free(UnsafeMutablePointer(mutating: text)) } }
}
