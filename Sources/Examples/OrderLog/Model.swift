import Foundation
import Polystore
import PolystoreMacros

/// An order that a shop has taken.
@Model final class Order: ManagedObject {
    @Attribute(.unique) var number: Int
    var total: Decimal = 0
    var isPaid: Bool = false
}
