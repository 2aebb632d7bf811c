internal import PolystoreFoundation
internal import PolystoreSchema

/// The deviations of numbers from their mean, in one pass without losing digits (Welford, "Note on a method for calculating corrected sums
/// of squares and products", 1962).
struct RunningSpread {
    private var mean = 0.0
    /// The sum of the squared deviations.
    private(set) var squares = 0.0

    /// - Parameter count: The number of numbers, including this one.
    mutating func add(_ number: Double, count: Int64) throws(QueryError) {
        let distance = number - mean
        mean += distance / Double(count)
        squares += distance * (number - mean)
        if !squares.isFinite { throw RunningTotal.overflow }
    }
}
