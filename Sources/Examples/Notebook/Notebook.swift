import Foundation
import Polystore
import PolystoreCatalog

/// The notes of a store.
struct Notebook {
    /// A note as it is shown.
    struct Entry: Sendable {
        let number: Int
        let text: String
        let tags: [String]
    }

    let stack: DataStack

    /// Opens the store of a URL such as `sqlite:notes.db` or `postgresql:///notes`, and creates what it needs.
    init(_ url: String) throws {
        stack = try DataStack(Note.self, Tag.self)
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url)))
    }

    /// Adds a note with the tags of the given names. Tags that do not exist are created.
    func add(_ text: String, tags: [String]) async throws -> Int {
        try await stack.perform { transaction in
            // Transactions that read and write the same are not committed both, so no two notes get one number.
            let last = try transaction.queryValue(From<Note>().select(Int.self, .maximum(\.number))) ?? 0
            let note = try transaction.create(Note.self)
            note.number = last + 1
            note.text = text
            for name in tags { note.tags.insert(try transaction.fetchOrCreate(Tag.self, \.name == name)) }
            return note.number
        }
    }

    /// Returns the notes, newest first.
    ///
    /// - Parameters:
    ///   - tag: The name of a tag that the notes have; nil for all notes.
    ///   - words: Words that their texts contain; nil for all notes.
    func entries(tag: String? = nil, words: String? = nil) throws -> [Entry] {
        var notes = From<Note>().orderBy(.descending(\.created))
        if let tag { notes = notes.where((\Note.tags).any(\.name == tag)) }
        if let words { notes = notes.where((\Note.text).search(words)) }
        return try stack.read { transaction in
            try transaction.fetchAll(notes.prefetch(\.tags)).map { note in
                Entry(number: note.number, text: note.text, tags: note.tags.map(\.name).sorted())
            }
        }
    }

    /// Deletes a note, and the tags that no other note has. Returns whether it existed.
    func remove(_ number: Int) async throws -> Bool {
        try await stack.perform { transaction in
            guard let note = try transaction.fetchOne(From<Note>().where(\.number == number)) else { return false }
            let tags = note.tags
            try transaction.delete(note)
            for tag in tags where tag.notes.isEmpty { try transaction.delete(tag) }
            return true
        }
    }
}
