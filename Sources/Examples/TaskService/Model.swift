import Foundation
import Polystore
import PolystoreMacros

/// Something to do.
@Model final class Item: ManagedObject {
    @Attribute(.unique) var id: UUID = UUID()
    var title: String
    var isDone: Bool = false
    var rank: Int = 0
}
