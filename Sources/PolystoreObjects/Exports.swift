@_exported public import PolystoreStorage
