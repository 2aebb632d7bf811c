public import PolystoreStorage

/// The notification of monitors that see the uncommitted changes of the transaction.
extension UnsafeTransaction {
    /// Notifies the monitors of the transaction of the changes since the last notification. Writes nothing.
    ///
    /// - Throws: Any error of reading. In that case no monitor was notified.
    public func flush() throws(StorageError) {
        try reporting { () throws(StorageError) in
            let context = try _fetchContext
            try context.throwFailure()
            // If an observer calls this during a notification, the other observers are notified first.
            tellsAgain = isTelling
            if isTelling { return }
            isTelling = true
            defer { isTelling = false }
            repeat {
                tellsAgain = false
                var concerned: [any ContextMonitor] = []
                for monitor in monitors.alive where try monitor.preparePending() { concerned.append(monitor) }
                for monitor in concerned { monitor.willChange(sourceIdentifier) }
                for monitor in concerned { monitor.didChange(sourceIdentifier) }
            } while tellsAgain
        }
    }

    /// Notifies the monitors after a successful operation. A read error is reported to the logger, and the changes are reported with the
    /// next notification, which evaluates the lists as a whole.
    func notifyMonitors() { if !monitors.alive.isEmpty { try? flush() } }
}

extension UnsafeTransaction: MonitoredContext {
    package func remove(_ monitor: any ContextMonitor) { monitors.remove(monitor) }
}
