public import Foundation

/// Dates as whole microseconds since 1970, the one form in which stores keep them.
public enum Microseconds {
    /// 0001-01-01T00:00:00Z.
    @inlinable public static var minimum: Int64 { -62_135_596_800_000_000 }
    /// 9999-12-31T23:59:59.999999Z.
    @inlinable public static var maximum: Int64 { 253_402_300_799_999_999 }

    /// Whether a number of microseconds is a date of the years 1 to 9999.
    @inlinable public static func contains(_ microseconds: Int64) -> Bool { microseconds >= minimum && microseconds <= maximum }

    /// The whole microseconds nearest to `date`, or nil outside the years 1 to 9999.
    public static func from(_ date: Date) -> Int64? {
        // 2001 based seconds are split first: multiplying the whole number would lose the fraction of far dates.
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        let whole = seconds.rounded(.down)
        let micros = Int64((seconds - whole) * 1_000_000 + 0.5)
        let result = (Int64(whole) + 978_307_200) * 1_000_000 + micros
        return result >= minimum && result <= maximum ? result : nil
    }

    /// The date nearest to a number of microseconds since 1970.
    public static func date(_ microseconds: Int64) -> Date {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Date(timeIntervalSinceReferenceDate: Double(whole - 978_307_200) + Double(rest) / 1_000_000)
    }
}
