module backend.example/backend

go 1.24

require boxoffice.example/boxoffice/sdk/go v0.2.0
