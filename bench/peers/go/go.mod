module gmp4j.org/peers

go 1.27
