// SPDX-License-Identifier: Apache-2.0

/** The {@code gmp} command: measurements and benchmarks of the scheduler. */
@SuppressWarnings("requires-automatic")
open module org.gmp4j.bench {
    requires java.management;
    requires jdk.attach;
    requires jdk.management;
    requires org.gmp4j.nativebindings;
    requires org.gmp4j.runtime;
    requires com.fasterxml.jackson.core;
    requires info.picocli;
    requires io.netty.buffer;
    requires HdrHistogram;
    requires jmh.core;
}
