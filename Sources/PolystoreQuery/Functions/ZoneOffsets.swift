internal import PolystoreFoundation
internal import PolystoreSchema
internal import Synchronization

/// The offsets of a time zone from UTC.
///
/// FoundationEssentials has no time zone but GMT. The rules are those in the zone files of the system, which are also a part of macOS.
struct ZoneOffsets: Sendable {
    private let rules: ZoneFile?
    private let fixed: Int

    /// Creates the offsets of `UTC`, `GMT`, an hour of difference to them, such as `GMT+2` or `UTC-03:30`, or a name of the tz database.
    /// Returns nil if there is no such zone.
    init?(_ name: String) {
        if let seconds = Self.seconds(ofFixed: name) {
            fixed = seconds
            rules = nil
        } else if let file = Self.file(name) {
            fixed = 0
            rules = file
        } else {
            return nil
        }
    }

    /// Returns the difference to UTC in seconds, positive in the east.
    func seconds(at time: Int) -> Int { rules?.offset(at: time) ?? fixed }

    /// Whether the system has zone files. Small systems install them with the package `tzdata`.
    static var hasFiles: Bool { folders.contains { access($0, R_OK) == 0 } }

    /// The folder of the environment variable `TZDIR` is the first one.
    private static let folders: [String] =
        (getenv("TZDIR").map { [String(cString: $0)] } ?? []) + ["/usr/share/zoneinfo", "/var/db/timezone/zoneinfo"]

    private static let files = Mutex<[String: ZoneFile]>([:])

    private static func file(_ name: String) -> ZoneFile? {
        if let file = files.withLock({ $0[name] }) { return file }
        // A name is not a path to other files. The files in these two folders have the same names and another form.
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isName = parts.allSatisfy { part in
            part.first?.isLetter == true && part.utf8.allSatisfy { $0.isLetterOrDigit || [UInt8]("_+-".utf8).contains($0) }
        }
        if !isName || ["posix", "right"].contains(parts[0]) || ["localtime", "posixrules"].contains(name) { return nil }
        for folder in folders {
            if let bytes = try? RegularFile.data("\(folder)/\(name)", atMost: 1 << 20), let file = ZoneFile([UInt8](bytes)) {
                files.withLock { $0[name] = file }
                return file
            }
        }
        return nil
    }

    /// Returns the difference of `UTC`, `GMT`, or of these with hours and minutes.
    private static func seconds(ofFixed name: String) -> Int? {
        guard name.hasPrefix("GMT") || name.hasPrefix("UTC") else { return nil }
        let rest = name.utf8.dropFirst(3)
        guard let sign = rest.first else { return 0 }
        guard [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign) else { return nil }
        let parts = rest.dropFirst().split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let digits = parts.joined()
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let hours: Int, minutes: Int
        switch (parts.count, parts[0].count, digits.count - parts[0].count) {
        case (1, 1...2, _): (hours, minutes) = (number, 0)
        case (1, 3...4, _), (2, 1...2, 2): (hours, minutes) = (number / 100, number % 100)
        default: return nil
        }
        guard hours <= 18, minutes < 60, hours * 60 + minutes <= 18 * 60 else { return nil }
        return (sign == UInt8(ascii: "-") ? -60 : 60) * (hours * 60 + minutes)
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}
