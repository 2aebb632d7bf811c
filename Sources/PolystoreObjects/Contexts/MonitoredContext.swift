internal import PolystoreStorage

/// The owner of monitors, which keeps them up to date: a view context, or a detached transaction.
package protocol MonitoredContext: AnyObject, FetchSource {
    var core: StackCore { get }
    var context: ObjectContext { get }
    func remove(_ monitor: any ContextMonitor)
}
