// SPDX-License-Identifier: Apache-2.0
/** Go's scheduler for the JVM. */
module org.gmp4j.runtime {
    requires org.gmp4j.nativebindings;
    requires java.instrument;
    requires static org.jspecify; // For compilers; not needed to run.
    requires static java.management; // metrics.JmxBean, report.LeakSearch.
    requires static jdk.management; // report.LeakSearch.
    requires static jdk.httpserver; // metrics.WebServer.
    requires static jdk.jfr; // The events.
    requires static micrometer.core; // metrics.MicrometerBinder.
    requires static io.opentelemetry.api; // metrics.OpenTelemetryBinder.

    exports org.gmp4j;
    exports org.gmp4j.sync;
    exports org.gmp4j.affinity;
    exports org.gmp4j.context;
    exports org.gmp4j.memory;
    exports org.gmp4j.metrics;
    exports org.gmp4j.synctest;
    exports org.gmp4j.time;
    exports org.gmp4j.net;
    exports org.gmp4j.trace;
    exports org.gmp4j.agent to java.instrument; // It calls the agent's methods.
}
