import Foundation
import Polystore
import PolystoreCatalog

// Commits over two stores without end, for a test that kills it: polystore-crash LEFT RIGHT
let schema = try Schema(
    entities: [Entity("Left", attributes: [Attribute("x", .int64)]), Entity("Right", attributes: [Attribute("x", .int64)])],
    configurations: ["Left": ["Left"], "Right": ["Right"]])
let stack = try DataStack(schema: schema)
for (url, name) in zip(CommandLine.arguments.dropFirst(), ["Left", "Right"]) {
    try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: name))
}
var number = Int64(try stack.fetchCount(From<DynamicObject>(entity: "Left")))
while true {
    number += 1
    try stack.perform(synchronous: { transaction in
        for entity in ["Left", "Right"] {
            try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x")
        }
    })
    if number % 8 == 1 { FileHandle.standardOutput.write(Data(".".utf8)) }
}
