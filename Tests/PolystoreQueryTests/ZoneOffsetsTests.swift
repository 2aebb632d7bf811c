import Foundation
import Testing

@testable import PolystoreQuery

/// Offsets are those of Foundation, from the year 1970 on. Earlier ones depend on the package of the tz database.
@Suite struct ZoneOffsetsTests {
    /// Zones in the north and the south, without summer time, with half and quarter hours, with a summer time that is the standard time, and
    /// with a day that was left out.
    private static let zones = [
        "UTC", "Etc/UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Kathmandu",
        "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Africa/Johannesburg", "America/Argentina/Buenos_Aires", "Etc/GMT+3",
    ]

    @Test(arguments: zones) func offsetsAreThoseOfFoundation(_ name: String) throws {
        let zone = try #require(TimeZone(identifier: name)), offsets = try #require(ZoneOffsets(name))
        let times =
            (0..<3000).map { _ in Int.random(in: 0...1_735_689_600) }
            + (0..<300).map { _ in Int.random(in: 2_500_000_000...20_000_000_000) }
        for time in times {
            let date = Date(timeIntervalSince1970: Double(time))
            #expect(offsets.seconds(at: time) == zone.secondsFromGMT(for: date), "\(time)")
        }
    }

    @Test func anOffsetChangesInItsSecond() throws {
        let berlin = try #require(ZoneOffsets("Europe/Berlin"))
        // 2024-03-31 01:00 and 2024-10-27 01:00 UTC, and the same in 2124, which the rule at the end of the file computes: 03-26 and 10-29.
        #expect([1_711_846_799, 1_711_846_800, 1_729_990_799, 1_729_990_800].map(berlin.seconds) == [3600, 7200, 7200, 3600])
        #expect([4_867_088_399, 4_867_088_400, 4_885_837_199, 4_885_837_200].map(berlin.seconds) == [3600, 7200, 7200, 3600])
    }

    @Test(arguments: [
        "GMT", "UTC", "GMT+2", "UTC-03:30", "GMT-0330", "GMT+18", "GMT+19", "GMT+", "GMT++2", "GMT+1:2", "GMT+123:00", "GMT+0:60", "gmt",
        "+02", "",
        "Mars/Olympus", "/etc/passwd", "../zoneinfo/UTC", "Europe", "Europe/../UTC", "posix/UTC", "localtime", "zone.tab", "UTC ",
    ])
    func zonesAreThoseOfFoundation(_ name: String) {
        #expect(
            ZoneOffsets(name)?.seconds(at: 1_700_000_000)
                == TimeZone(identifier: name)?.secondsFromGMT(for: Date(timeIntervalSince1970: 1_700_000_000)))
    }

    @Test func rulesAreThoseOfPOSIX() throws {
        // Days by their numbers: the 60th without February 29 is March 1, and 59 from zero is February 29 in a leap year.
        let rule = try #require(ZoneRule("<-03>3<-02>,J60/0,59/48"))
        let march2025 = 1_740_798_000, march2024 = 1_709_262_000  // 03:00 UTC
        #expect([march2025 - 1, march2025, march2025 + 86_400].map(rule.offset) == [-10_800, -7200, -7200])
        #expect([march2024 - 1, march2024, march2024 + 86_400].map(rule.offset) == [-10_800, -7200, -10_800])
        for text in ["", "A", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "<CET-1"] {
            #expect((ZoneRule(text) == nil) != ["CET-1"].contains(text), "\(text)")
        }
    }

    @Test func damagedFilesAreRefused() throws {
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/Europe/Berlin")))
        #expect(ZoneFile(file) != nil)
        for length in stride(from: 0, to: file.count - 30, by: 7) { #expect(ZoneFile([UInt8](file.prefix(length))) == nil, "\(length)") }
        #expect(ZoneFile([UInt8]("TZif2".utf8) + [UInt8](repeating: 0xff, count: 4000)) == nil)
    }
}
