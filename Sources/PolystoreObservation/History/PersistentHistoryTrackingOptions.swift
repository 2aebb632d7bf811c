/// The options of a tracker.
public struct PersistentHistoryTrackingOptions: Sendable, Hashable {
    /// The name under which the stores record the tracker's progress; nil for a name derived from its author. Programs that run
    /// concurrently under one author should use different names.
    public var consumer: String?
    /// The time for which transactions are kept that every consumer has acknowledged; nil if this tracker never purges.
    public var keepsHistoryFor: Duration?
    /// The time between two purges.
    public var purgeInterval: Duration
    /// The time of inactivity after which consumers no longer delay purges; nil for no limit.
    public var ignoresConsumersUnseenFor: Duration?
    /// The maximum number of buffered events of each store for the listeners. More events are read when half of them are processed.
    public var bufferedEvents: Int

    /// Creates options. By default one week of history is kept, with an hourly purge.
    public init(
        consumer: String? = nil, keepsHistoryFor: Duration? = .seconds(7 * 86_400), purgeInterval: Duration = .seconds(3600),
        ignoresConsumersUnseenFor: Duration? = nil, bufferedEvents: Int = 1000
    ) {
        self.consumer = consumer
        self.keepsHistoryFor = keepsHistoryFor
        self.purgeInterval = purgeInterval
        self.ignoresConsumersUnseenFor = ignoresConsumersUnseenFor
        self.bufferedEvents = bufferedEvents
    }
}
