/// A date and time of day in a time zone, in the proleptic Gregorian calendar.
struct CivilDate {
    private var year = 0, month = 0, day = 0, secondOfDay = 0, days = 0

    /// Creates the date of a moment (Hinnant, "chrono-compatible low-level date algorithms", civil_from_days).
    init(microseconds: Int64, _ zone: ZoneOffsets) {
        let seconds = Int(microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000)
        self.init(second: seconds + zone.seconds(at: seconds))
    }

    /// Creates the date of a second since 1970.
    private init(second local: Int) {
        days = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        secondOfDay = local - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    func part(_ part: DatePart) -> Int {
        switch part {
        case .year: year
        case .month: month
        case .day: day
        case .hour: secondOfDay / 3600
        case .minute: secondOfDay / 60 % 60
        case .second: secondOfDay % 60
        // The first of January 1970 was a Thursday.
        case .weekday: ((days + 4) % 7 + 7) % 7 + 1
        case .dayOfYear: Self.daysBefore[month - 1] + day + (month > 2 && Self.isLeap(year) ? 1 : 0)
        }
    }

    private static let daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Returns the year of a second since 1970.
    static func year(ofSecond second: Int) -> Int { CivilDate(second: second).year }

    /// Returns the number of days from 1970 to a year, negative for earlier ones.
    static func days(beforeYear year: Int) -> Int {
        let last = year - 1
        func quotient(_ divisor: Int) -> Int { last >= 0 ? last / divisor : (last - divisor + 1) / divisor }
        return 365 * year + quotient(4) - quotient(100) + quotient(400) - 719_527
    }

    /// Returns the number of days of a year before a month. Month 13 is the next year.
    static func days(beforeMonth month: Int, in year: Int) -> Int {
        let leapDay = month > 2 && isLeap(year) ? 1 : 0
        return (month > 12 ? 365 : daysBefore[month - 1]) + leapDay
    }
}
