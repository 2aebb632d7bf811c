internal import PolystoreFoundation
internal import PolystoreSchema

/// A part of a date.
public enum DatePart: String, Sendable, Hashable, CaseIterable {
    /// The year.
    case year
    /// The month, 1 to 12.
    case month
    /// The day of the month, 1 to 31.
    case day
    /// The hour, 0 to 23.
    case hour
    /// The minute, 0 to 59.
    case minute
    /// The second, 0 to 59.
    case second
    /// The day of the week, 1 for Sunday to 7.
    case weekday
    /// The day of the year, 1 to 366.
    case dayOfYear
}
