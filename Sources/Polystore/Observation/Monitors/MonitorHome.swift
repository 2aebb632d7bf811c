internal import PolystoreStorage

/// The owner of monitors that keeps them up to date: a view context, or a detached transaction.
protocol MonitorHome: AnyObject, FetchSource {
    var core: StackCore { get }
    var context: ObjectContext { get }
    func remove(_ monitor: any HomeMonitor)
}
