#if Macros
import Foundation
import PolystoreInMemory
import PolystoreMacros
import Testing

@Model private final class Measure: ManagedObject {
    var small: Int16 = 0
    var middle: Int32 = 0
    var large: Int64 = 0
    var ratio: Float = 0
    var price: Decimal = 0
    var day: Date
    var bytes: Data
    var link: URL?
    var tags: [String] = []
    var numbers: [Int] = []
}

// Properties that differ from the stored one only for large, long or exact values.
extension Measure {
    fileprivate var total: Int64 { Int64(small) + large }
    fileprivate var both: (small: Int16, large: Int64) { (small, large) }
    fileprivate subscript(added: Int64) -> Int64 { large + added }
    fileprivate var cappedSmall: Int16 { min(small, 19_999) }
    fileprivate var raisedSmall: Int16 { max(small, -19_999) }
    fileprivate var cappedMiddle: Int32 { min(middle, 1_000_000_000) }
    fileprivate var nearlyAllMiddle: Int32 { max(middle, -2_000_000_000) }
    fileprivate var cappedLarge: Int64 { min(large, 1 << 62) }
    fileprivate var raisedLarge: Int64 { max(large, -1 << 62) }
    fileprivate var narrowLarge: Int32 { Int32(large) }
    fileprivate var roundedRatio: Float { (ratio * 1000).rounded() / 1000 }
    fileprivate var roundedPrice: Decimal {
        var rounded = Decimal(), price = price
        NSDecimalRound(&rounded, &price, 4, .bankers)
        return rounded
    }
    fileprivate var doublePrice: Decimal { Decimal(string: "\(Double("\(price)") ?? 0)") ?? 0 }
    fileprivate var cappedDay: Date { min(day, Date(timeIntervalSince1970: 4_102_444_800)) }
    fileprivate var raisedDay: Date { max(day, Date(timeIntervalSince1970: -2_208_988_800)) }
    fileprivate var shortBytes: Data { Data(bytes.prefix(1000)) }
    fileprivate var shortLink: URL? { link.flatMap { URL(string: String($0.absoluteString.prefix(200))) } }
    fileprivate var shortTags: [String] { Array(tags.prefix(100)) }
    fileprivate var tagsOfShortTexts: [String] { tags.map { String($0.prefix(500)) } }
    fileprivate var cappedNumbers: [Int] { numbers.map { min($0, 999_999) } }
}

// Other names for a stored property.
extension Measure {
    fileprivate var cost: Decimal { price }
    fileprivate var start: Date { day }
    fileprivate var labels: [String] { tags }
    fileprivate var contents: Data { bytes }
    fileprivate var wide: Int { Int(small) }
}

/// Computed properties as key paths, for each attribute type.
@Suite struct ComputedPropertyTests {
    private let stack: DataStack

    init() throws {
        stack = try DataStack(Measure.self)
        try stack.addStorageAndWait(InMemoryStore())
    }

    private func refusal<Property>(_ keyPath: KeyPath<Measure, Property>) -> StorageError? {
        do {
            _ = try stack.queryAttributes(From<Measure>().select(.attribute(keyPath)))
            return nil
        } catch {
            return error
        }
    }

    private func isRefused<Property>(_ keyPath: KeyPath<Measure, Property>) -> Bool { refusal(keyPath)?.code == .invalidPredicate }

    /// The symbols of a program that was not stripped have the names.
    @Test func theErrorNamesThePropertyAndWhatItIsComputedFrom() {
        #expect(refusal(\.cappedSmall)?.message.hasPrefix("Measure.cappedSmall is computed from \"small\"; use \"small\" itself") == true)
        #expect(refusal(\.cappedSmall)?.details.property == "small")
        #expect(refusal(\.total)?.message.hasPrefix("Measure.total is computed from \"small\", \"large\"; use one stored property") == true)
        #expect(refusal(\.both.large)?.message.hasPrefix("Measure.both.large is computed from") == true)
        #expect(refusal(\.[1])?.message.hasPrefix("a key path of Measure to a value of type Int64 is computed from \"large\"") == true)
        #expect(
            refusal(\.tags.count)?.message.hasPrefix("Measure.tags.count is a part of \"tags\", which is stored and compared as a whole")
                == true)
    }

    @Test func propertiesThatLimitRoundOrShortenAValueAreRefused() {
        #expect(isRefused(\.cappedSmall) && isRefused(\.raisedSmall))
        #expect(isRefused(\.cappedMiddle) && isRefused(\.nearlyAllMiddle))
        #expect(isRefused(\.cappedLarge) && isRefused(\.raisedLarge) && isRefused(\.narrowLarge))
        #expect(isRefused(\.roundedRatio))
        #expect(isRefused(\.roundedPrice) && isRefused(\.doublePrice))
        #expect(isRefused(\.cappedDay) && isRefused(\.raisedDay))
        #expect(isRefused(\.shortBytes) && isRefused(\.shortLink))
        #expect(isRefused(\.shortTags) && isRefused(\.tagsOfShortTexts) && isRefused(\.cappedNumbers))
    }

    @Test func otherNamesForAStoredPropertyAreTheProperty() {
        #expect(!isRefused(\.cost) && !isRefused(\.start) && !isRefused(\.labels) && !isRefused(\.contents) && !isRefused(\.wide))
        #expect(!isRefused(\.large) && !isRefused(\.ratio) && !isRefused(\.link) && !isRefused(\.numbers) && !isRefused(\.middle))
    }
}
#endif
