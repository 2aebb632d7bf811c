import Foundation
import Polystore
import Testing

/// The names of the two indexes of a place in a list.
@Suite struct IndexPathTests {
    @Test func anIndexPathHasASectionAndAnItem() {
        let path = IndexPath(item: 3, section: 1)
        #expect(path == IndexPath(indexes: [1, 3]))
        #expect(path == IndexPath(row: 3, section: 1))
        #expect(path.section == 1 && path.item == 3 && path.row == 3)
    }
}
