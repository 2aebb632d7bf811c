public import PolystoreFoundation

/// Dates as integer microseconds since 1970, the form in which all stores keep them.
public enum Microseconds {
    /// The microseconds of 0001-01-01T00:00:00Z.
    @inlinable public static var minimum: Int64 { -62_135_596_800_000_000 }
    /// The microseconds of 9999-12-31T23:59:59.999999Z.
    @inlinable public static var maximum: Int64 { 253_402_300_799_999_999 }

    /// Returns whether a number of microseconds is a date in the years 1 to 9999.
    @inlinable public static func contains(_ microseconds: Int64) -> Bool { microseconds >= minimum && microseconds <= maximum }

    /// Returns the nearest number of microseconds to `date`, or nil outside the years 1 to 9999.
    public static func from(_ date: Date) -> Int64? {
        // The seconds since 2001 are split first: multiplying the whole number would lose the fraction of distant dates.
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        let whole = seconds.rounded(.down)
        let micros = Int64((seconds - whole) * 1_000_000 + 0.5)
        let result = (Int64(whole) + 978_307_200) * 1_000_000 + micros
        return result >= minimum && result <= maximum ? result : nil
    }

    /// Returns the date nearest to a number of microseconds since 1970.
    public static func date(_ microseconds: Int64) -> Date {
        let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Date(timeIntervalSinceReferenceDate: Double(whole - 978_307_200) + Double(rest) / 1_000_000)
    }
}
