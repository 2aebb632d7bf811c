public import CPolystore

/// Observes the objects of a request.
@c @implementation
public func polystore_stack_observe(
    _ stack: OpaquePointer?, _ request: UnsafePointer<CChar>?, _ body: polystore_monitor_body?, _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> OpaquePointer? {
    reporting(error, nil) {
        let stack: StackHandle = try HandleTable.object(stack)
        return HandleTable.insert(
            try MonitorHandle(stack, String(argument: request, "the request"), CallBack(body, context)))
    }
}

/// Returns the current list of objects.
@c @implementation
public func polystore_monitor_objects(
    _ monitor: OpaquePointer?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> UnsafeMutablePointer<CChar>? {
    reportingText(error) { try HandleTable.object(monitor, MonitorHandle.self).objects() }
}

/// Adds a reference to a monitor.
@c @implementation
public func polystore_monitor_retain(_ monitor: OpaquePointer?) -> OpaquePointer? { HandleTable.retain(monitor, MonitorHandle.self) }

/// Releases a monitor.
@c @implementation
public func polystore_monitor_release(_ monitor: OpaquePointer?) { HandleTable.release(monitor, MonitorHandle.self) }
