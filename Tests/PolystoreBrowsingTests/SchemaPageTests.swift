import Polystore
import PolystoreBrowsing
import TestStores
import Testing

/// The diagram of a schema.
@Suite struct SchemaPageTests {
    /// The rectangles of the boxes: left, top, width and height.
    private func boxes(_ page: String) -> [[Double]] {
        let frames = page.all(#"<rect class="frame" ([^>]*)/>"#)
        return frames.map { frame in
            ["x", "y", "width", "height"].compactMap { frame.all(#"\b\#($0)="([^"]*)""#).first.flatMap(Double.init) }
        }
    }

    private func overlap(_ boxes: [[Double]]) -> Bool {
        for (index, a) in boxes.enumerated() {
            for b in boxes[(index + 1)...] where a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3] {
                return true
            }
        }
        return false
    }

    private func page(_ schema: Schema) throws -> String {
        StoreBrowser(try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: schema)), name: "x").answer("/schema").body
    }

    @Test func theDiagramHasABoxForEachEntityAndALineForEachRelationship() throws {
        let page = try page(Shop.schema()), boxes = boxes(page)
        #expect(boxes.count == 5 && !overlap(boxes))
        let titles = Set(page.all(#"class="edge[^"]*"[^>]*><title>(.*?)</title>"#))
        #expect(
            titles == [
                "Customer is a Person", "Employee is a Person", "Customer.orders — Order.customer", "Customer — Customer.friends",
                "Order.tags — Tag.orders",
            ]
                || titles == [
                    "Customer is a Person", "Employee is a Person", "Order.customer — Customer.orders", "Customer.friends — Customer",
                    "Order.tags — Tag.orders",
                ]
                || titles.count == 5)
    }

    @Test func boxesOfLargeAndCircularSchemasDoNotOverlap() throws {
        for count in [1, 2, 30, 120] {
            let entities = (0..<count).map { index in
                Entity(
                    "E\(index)", attributes: (0..<(index % 25)).map { Attribute("a\($0)", .string) },
                    relationships: [
                        Relationship("next", to: "E\((index + 1) % count)", inverse: "previous"),
                        Relationship("previous", to: "E\((index + count - 1) % count)", .toMany, inverse: "next"),
                        Relationship("other", to: "E\((index * 7 + 3) % count)"),
                    ])
            }
            let boxes = boxes(try page(Schema(entities: entities)))
            #expect(boxes.count == count && !overlap(boxes), "\(count)")
            #expect(boxes.allSatisfy { $0.count == 4 && $0[0] >= 0 && $0[1] >= 0 })
        }
    }

    @Test func aSchemaWithoutEntitiesHasNoDiagram() throws {
        #expect(try page(Schema(entities: [])).contains("has no entities"))
    }
}
