@_exported public import PolystoreInMemory

#if SQLite
@_exported public import PolystoreSQLite
#endif
