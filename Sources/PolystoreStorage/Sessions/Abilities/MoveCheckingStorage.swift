/// A store that itself refuses write transactions while it has a note about a move, unless the options permit them.
package protocol MoveCheckingStorage: StorageInterface {}
