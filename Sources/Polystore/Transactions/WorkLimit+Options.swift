internal import PolystoreStorage

extension WorkLimit {
    /// Returns the options of a write transaction that must not wait longer than the remaining time.
    func options(isExclusive: Bool) -> WriteOptions {
        var options = WriteOptions(isExclusive: isExclusive, limit: self)
        options.timeout = min(options.timeout, secondsLeft)
        return options
    }
}
