/// How a tracker works.
public struct PersistentHistoryTrackingOptions: Sendable, Hashable {
    /// The name under which the stores keep how far the tracker has come; nil for one made of its author. Programs that run at the same time
    /// under one author should have names of their own.
    public var consumer: String?
    /// How long transactions are kept that every consumer has acknowledged; nil keeps them until somebody else purges.
    public var keepsHistoryFor: Duration?
    /// The time between two purges.
    public var purgeInterval: Duration
    /// Consumers that were not heard of for so long hold no purge back; nil for none.
    public var ignoresConsumersUnseenFor: Duration?
    /// The number of events that may wait for the listeners: more are read when half of them are done.
    public var bufferedEvents: Int

    /// Options: a week of history is kept, and looked after every hour.
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
