// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The counters of {@code struct schedstat} in gmp.h, which describes each of them and names its writer. The struct is a part of {@code
 * struct schedt}, whose address the accessors take.
 */
public final class SchedStat {
    public static final LongField NRETAKEN = counter("nretaken");
    public static final LongField NTOLD = counter("ntold");
    public static final LongField NLATE = counter("nlate");
    public static final LongField NPOLL = counter("npoll");
    public static final LongField NREADY = counter("nready");
    public static final LongField NPOLLBLOCK = counter("npollblock");
    public static final LongField NREADYBLOCK = counter("nreadyblock");
    public static final Buckets STOPPING = Struct.SCHEDT.buckets("stat.stopping");
    public static final Buckets STOPPED = Struct.SCHEDT.buckets("stat.stopped");

    private SchedStat() {
    }

    private static LongField counter(String name) {
        return Struct.SCHEDT.longField("stat." + name);
    }
}
