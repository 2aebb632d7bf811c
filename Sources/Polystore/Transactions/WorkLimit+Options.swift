internal import PolystoreStorage

extension WorkLimit {
    /// The options of a write transaction that must not wait longer than there is time.
    func options(isExclusive: Bool) -> WriteOptions {
        var options = WriteOptions(isExclusive: isExclusive, limit: self)
        options.timeout = min(options.timeout, secondsLeft)
        return options
    }
}
