import CFloor
import Foundation

/// The rows in the form that C reads, in memory that lives as long as this object.
final class FloorRows {
    let rows: UnsafeMutablePointer<floor_row>
    let count: Int
    private var texts: [UnsafeMutablePointer<CChar>] = []

    init(_ values: [PersonValues]) {
        count = values.count
        rows = .allocate(capacity: count)
        for (index, value) in values.enumerated() {
            var row = floor_row()
            row.key = value.key
            row.number = value.number
            row.name = text(value.name, &row.name_length)
            row.email = text(value.email, &row.email_length)
            row.age = value.age
            row.score = value.score
            row.active = value.active ? 1 : 0
            row.created = Int64(value.created.timeIntervalSince1970 * 1_000_000)
            if let note = value.note { row.note = text(note, &row.note_length) }
            rows[index] = row
        }
    }

    private func text(_ text: String, _ length: inout UInt32) -> UnsafePointer<CChar>? {
        guard let copy = strdup(text) else { return nil }
        texts.append(copy)
        length = UInt32(text.utf8.count)
        return UnsafePointer(copy)
    }

    deinit {
        for text in texts { free(text) }
        rows.deallocate()
    }
}

/// The C code of one engine.
struct Floor {
    let open: (String) -> UnsafeMutableRawPointer?
    let close: (UnsafeMutableRawPointer) -> Void
    /// Inserts row by row.
    let insert: (UnsafeMutableRawPointer, FloorRows) -> Int32
    /// Inserts by the fastest known method.
    let insertBest: (UnsafeMutableRawPointer, FloorRows) -> Int32
    let scan: (UnsafeMutableRawPointer) -> Int64
    let points: (UnsafeMutableRawPointer, [Int64]) -> Int64
    let update: (UnsafeMutableRawPointer, [Int64]) -> Int32

    static var sqlite: Floor {
        Floor(
            open: { floor_sqlite_open($0, 1) }, close: { floor_sqlite_close($0) },
            insert: { floor_sqlite_insert($0, $1.rows, Int32($1.count), 1) },
            insertBest: { floor_sqlite_insert($0, $1.rows, Int32($1.count), 50) },
            scan: { floor_sqlite_scan($0) }, points: { floor_sqlite_points($0, $1, Int32($1.count)) },
            update: { floor_sqlite_update($0, $1, Int32($1.count)) })
    }

    static var lmdb: Floor {
        Floor(
            open: { floor_lmdb_open($0) }, close: { floor_lmdb_close($0) },
            insert: { floor_lmdb_insert($0, $1.rows, Int32($1.count), 0) },
            insertBest: { floor_lmdb_insert($0, $1.rows, Int32($1.count), 1) },
            scan: { floor_lmdb_scan($0) }, points: { floor_lmdb_points($0, $1, Int32($1.count)) },
            update: { floor_lmdb_update($0, $1, Int32($1.count)) })
    }

    static var postgresql: Floor {
        Floor(
            open: { floor_pq_open($0) }, close: { floor_pq_close($0) },
            insert: { floor_pq_insert($0, $1.rows, Int32($1.count), 1) },
            insertBest: { floor_pq_insert($0, $1.rows, Int32($1.count), 1) },
            scan: { floor_pq_scan($0) }, points: { floor_pq_points($0, $1, Int32($1.count)) },
            update: { floor_pq_update($0, $1, Int32($1.count)) })
    }
}
