// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Virtual threads that wait for what nothing can reach: they are collected as on the JDK's scheduler, and nothing else is. */
class DroppedTest {
    private static void prints(String out, ChildJvm jvm, String... what) {
        Result r = jvm.run(what);
        assertEquals(out, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
        assertEquals("", r.err(), r::toString);
    }

    private static ChildJvm jvm(String... options) {
        return new ChildJvm(DroppedProgram.class).with("-Xmx32m").with(options);
    }

    @Test
    void areCollected() {
        prints("""
                rounds true
                plain 0
                reachable 10 10 10 [] 10 0
                leaks 0 0
                """, jvm("-Djdk.trackAllThreads=false"), "rounds", "plain", "reachable", "leaks");
    }

    /** The JDK refers to threads that are in no executor, by default. */
    @Test
    void unlessTheJdkTracksThem() {
        prints("plain 10\n", jvm(), "plain");
    }

    /** Where goroutines are mounted by our own code, the M refers to the thread that it ran last, too. */
    @Test
    void goroutinesOfOurApiStay() {
        prints("api 3\nlocked 1\n", jvm("-Dgmp.mount=jdk"), "api", "locked");
    }

    /** What can wake a thread keeps it, though only the goroutine's number is known in places. */
    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseZGC", "-Dgmp.mount=jdk"})
    void threadsThatCanGoOnAreNotCollected(String flag) {
        prints("""
                sockets 10
                sleeps 30
                finalizer 10 10 0
                woken 60
                """, jvm(flag), "sockets", "sleeps", "finalizer", "woken");
    }
}
