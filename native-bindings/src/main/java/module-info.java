// SPDX-License-Identifier: Apache-2.0
/** Bindings to the Linux kernel interface and to libgmp4j; for the runtime and its benchmarks only. */
@SuppressWarnings("module") // the modules named below are built after this one
module org.gmp4j.nativebindings {
    exports org.gmp4j.ffi to
            org.gmp4j.runtime,
            org.gmp4j.bench;
    exports org.gmp4j.ffi.gmp to
            org.gmp4j.runtime,
            org.gmp4j.bench;
    exports org.gmp4j.ffi.linux to
            org.gmp4j.runtime,
            org.gmp4j.bench;
}
