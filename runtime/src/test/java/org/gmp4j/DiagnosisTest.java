// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings of GMPDEBUG, each in a process of its own. */
class DiagnosisTest {
    private static final int ABORTED = 134;

    private static ChildJvm program() {
        return new ChildJvm(DiagnosisProgram.class);
    }

    private static int count(String text, String part) {
        return (int) Pattern.compile(Pattern.quote(part)).matcher(text).results().count();
    }

    /** The same by variable and by property. */
    @Test
    void traceback() {
        Result single = program().run("panic");
        assertEquals(2, single.exit(), single::toString);
        assertTrue(single.err().startsWith("panic: java.lang.IllegalStateException: of the test"), single::toString);
        assertEquals(0, count(single.err(), "[chan receive]"), single::toString);

        Result all = program().env("GMPDEBUG", "traceback=all").run("panic");
        assertEquals(2, all.exit(), all::toString);
        assertTrue(all.err().startsWith(single.err().lines().findFirst().orElseThrow()), all::toString);
        assertEquals(1, count(all.err(), "[chan receive]"), all::toString);
        assertEquals(0, count(all.err(), "org.gmp4j.sched."), all::toString);

        Result system = program().with("-Dgmp.debug=traceback=system").run("panic");
        assertEquals(2, system.exit(), system::toString);
        assertEquals(1, count(system.err(), "[chan receive]"), system::toString);
        assertTrue(system.err().contains("org.gmp4j.sched.Park.gopark"), system::toString);
        assertTrue(system.err().contains("SCHED 0ms: gomaxprocs=2"), system::toString);
    }

    @Test
    void crash() {
        Result r = program().env("GMPDEBUG", "traceback=crash").run("deadlock");
        assertEquals(ABORTED, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!"), r::toString);
        assertTrue(r.err().contains("SCHED 0ms: "), r::toString);
    }

    @Test
    void badSettings() {
        for (String bad : new String[] {"traceback=loud", "metrics=lots", "nonsense=1"}) {
            Result r = program().env("GMPDEBUG", bad).run("work");
            assertEquals(2, r.exit(), r::toString);
            assertEquals(1, r.err().lines().count(), r::toString);
            assertTrue(r.err().startsWith("gmp4j: GMPDEBUG: "), r::toString);
        }
    }

    /** By the property, which a command sets, and which goes with a program's own GMPDEBUG. */
    @Test
    void dashboard() throws IOException {
        Result r = program().with("-Dgmp.dashboard=0").env("GMPDEBUG", "traceback=all").run("work");
        assertEquals(new Result(0, "done\n", ""), new Result(r.exit(), r.out(), ""), r::toString);
        assertTrue(r.err().matches("gmp4j: dashboard at http://localhost:[0-9]+/\n"), r::toString);
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Result inUse = program().with("-Dgmp.dashboard=" + taken.getLocalPort()).run("work");
            assertEquals(2, inUse.exit(), inUse::toString);
            assertTrue(inUse.err().matches("gmp4j: the dashboard cannot be served at localhost:[0-9]+: Address already in use\n"),
                    inUse::toString);
        }
        Result bad = program().with("-Dgmp.dashboard=many").run("work");
        assertEquals(new Result(2, "", "gmp4j: gmp.dashboard is \"many\": use a port from 0 to 65535\n"), bad);
    }

    /** Under {@code gmp run} what its user has set ends the program with a sentence; what the program has set throws. */
    @Test
    void badSettingsOfAProgramThatBuildsItsOwn(@TempDir Path dir) throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            for (String bad : new String[] {"nonsense=1", "metrics=" + port, "dashboard=" + port, "trace=" + dir}) {
                ChildJvm jvm = program().env("GMPDEBUG", bad);
                Result thrown = jvm.run("built");
                assertEquals(1, thrown.exit(), thrown::toString);
                assertTrue(thrown.err().contains("java.lang.IllegalArgumentException: "), thrown::toString);
                Result said = jvm.with("-Dgmp.run=true").run("built");
                assertEquals(2, said.exit(), said::toString);
                assertTrue(said.err().matches("gmp4j: [^\n]+\n"), said::toString);
            }
        }
        Result own = program().with("-Dgmp.run=true").run("built-badly");
        assertEquals(1, own.exit(), own::toString);
        assertTrue(own.err().contains("IllegalArgumentException: GMPDEBUG: the key \"nonsense\""), own::toString);
        assertEquals(new Result(0, "ran\n", ""), program().with("-Dgmp.run=true").run("built"));
    }

    @Test
    void invariantsOfAProgramThatIsWell() {
        Result r = program().with("-Dgmp.debug=invariants=1,lockrank=1,checkptr=1").run("work");
        assertEquals(new Result(0, "done\n", ""), r);
    }

    @Test
    void invariantsThatAreBroken() {
        Result r = program().run("broken");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: invariants of gmp"), r::toString);
    }

    @Test
    void invariantsAtAStop() {
        AtomicInteger looks = new AtomicInteger();
        try (TestGmp g = TestGmp.procs(1)) {
            g.scheduler().setAtStop(looks::incrementAndGet);
            int old = g.gmp.setProcs(2);
            assertEquals(old, looks.get());
        }
    }

    @Test
    void aBeanFromTheStart() {
        Result r = program().run("bean");
        assertEquals(new Result(0, "2\ntrue\ntrue\n[]\n", ""), r);
    }

    /** What must be quoted or escaped is, and of two with the same name the later has a number. */
    @Test
    void anyNameAlsoTwice() {
        Result r = program().run("odd-names");
        StringBuilder expected = new StringBuilder();
        for (String label : new String[] {"plain", "a,b", "x:y=*?\\\\\\\"\\nz"}) {
            expected.append("1true 2true \n");
            expected.append("gmp_sched_gomaxprocs_threads{scheduler=\"").append(label).append("\"} 1\n");
            expected.append("gmp_sched_gomaxprocs_threads{scheduler=\"").append(label).append("-2\"} 2\n");
        }
        assertEquals(new Result(0, expected.append("[]\n").toString(), ""), r);
    }

    @Test
    void aBeanOnceSomebodyUsesJmx() {
        Result r = program().run("late-bean");
        assertEquals(new Result(0, "2\n", ""), r);
    }

    @Test
    void whatIsNotUsedIsNotLoaded() {
        Result r = program().with("-Xlog:class+load").run("nothing");
        assertEquals(0, r.exit(), r::toString);
        assertTrue(r.out().contains("org.gmp4j.management.Diagnosis"), "the log is empty");
        for (String unused : new String[] {"javax.management", "sun.management", "httpserver", "jdk.jfr", "org.gmp4j.jfr",
                "metrics.Catalog", "metrics.JmxBean"}) {
            String line = r.out().lines().filter(l -> l.contains(unused)).findFirst().orElse("");
            assertEquals("", line);
        }
    }

    @Test
    void cooperativeOnly() {
        Result r = program().run("cooperative");
        assertEquals(new Result(0, "asked true, taken 0\n", ""), r);
    }
}
