internal import PolystoreStorage
internal import Synchronization

/// The handles of the program: numbers that stand for objects, with the number of references to each.
///
/// A handle is no address (decision 0085), so that one that was released, or one of another type, is found to be invalid. Numbers are not used
/// again.
enum HandleTable {
    private struct Entry: Sendable {
        let object: any Handle
        var references = 1
    }

    private struct State: Sendable {
        var entries: [UInt: Entry] = [:]
        var last: UInt = 0
    }

    private static let state = Mutex(State())
    /// Handles differ by more than 1, as addresses do, because debuggers and languages may assume an alignment.
    private static let step: UInt = 16

    /// The number of handles that are not released.
    static var count: Int { state.withLock { $0.entries.count } }

    /// Returns a new handle of an object.
    static func insert(_ object: any Handle) -> OpaquePointer? {
        let key = state.withLock { state in
            state.last += step
            state.entries[state.last] = Entry(object: object)
            return state.last
        }
        return OpaquePointer(bitPattern: key)
    }

    /// Returns the object of a handle.
    ///
    /// - Throws: `storeClosed` for a null handle, for one that was released, and for one of another type.
    static func object<H: Handle>(_ handle: OpaquePointer?, _ type: H.Type = H.self) throws(StorageError) -> H {
        if let object = state.withLock({ $0.entries[UInt(bitPattern: handle)]?.object }) as? H { return object }
        throw StorageError(
            .storeClosed,
            handle == nil ? "the handle of \(H.noun) is null" : "this is no handle of \(H.noun), or it was released")
    }

    /// Adds a reference. Returns the handle; nil for an invalid one.
    static func retain<H: Handle>(_ handle: OpaquePointer?, _ type: H.Type) -> OpaquePointer? {
        let key = UInt(bitPattern: handle)
        let isValid = state.withLock { state in
            guard state.entries[key]?.object is H else { return false }
            state.entries[key]?.references += 1
            return true
        }
        return isValid ? handle : nil
    }

    /// Removes a reference, and ends the object after the last one. An invalid handle is ignored.
    static func release<H: Handle>(_ handle: OpaquePointer?, _ type: H.Type) {
        let key = UInt(bitPattern: handle)
        let last = state.withLock { state -> (any Handle)? in
            guard let entry = state.entries[key], entry.object is H else { return nil }
            if entry.references > 1 {
                state.entries[key]?.references -= 1
                return nil
            }
            state.entries[key] = nil
            return entry.object
        }
        // Outside of the lock, because an end may wait for a call-back, which uses handles.
        last?.end()
    }
}
