internal import CPolystore
internal import Foundation
internal import PolystoreTransfer

// Each function is described in `polystore.h`, with whose declaration the compiler compares it.

nonisolated(unsafe) private let version: UnsafePointer<CChar>? = UnsafePointer(strdup(ReleaseVersion.text))

/// Returns the version of the library.
@c @implementation
public func polystore_version() -> UnsafePointer<CChar>? { version }

/// Frees a text that a function returned.
@c @implementation
public func polystore_free(_ text: UnsafeMutablePointer<CChar>?) { free(text) }

/// Returns the number of handles that are not released.
@c @implementation
public func polystore_live_handles() -> Int { HandleTable.count }
