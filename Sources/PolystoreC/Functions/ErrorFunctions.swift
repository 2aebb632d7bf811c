internal import CPolystore

private func object(_ error: OpaquePointer?) -> ErrorHandle? { try? HandleTable.object(error) }

/// Returns the name of the kind of failure.
@c @implementation
public func polystore_error_code(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { object(error)?.code }

/// Returns the sentence of an error.
@c @implementation
public func polystore_error_message(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { object(error)?.message }

/// Returns the location of the failure as JSON.
@c @implementation
public func polystore_error_details(_ error: OpaquePointer?) -> UnsafePointer<CChar>? { object(error)?.details }

/// Returns whether the same call may succeed if it is repeated.
@c @implementation
public func polystore_error_is_retryable(_ error: OpaquePointer?) -> Bool { object(error)?.isRetryable ?? false }

/// Adds a reference to an error.
@c @implementation
public func polystore_error_retain(_ error: OpaquePointer?) -> OpaquePointer? { HandleTable.retain(error, ErrorHandle.self) }

/// Releases an error.
@c @implementation
public func polystore_error_release(_ error: OpaquePointer?) { HandleTable.release(error, ErrorHandle.self) }
