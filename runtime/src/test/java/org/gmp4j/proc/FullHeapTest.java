package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Gmp;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A heap that is full to the last byte ends no scheduler and loses nothing. {@code -Dgmp.heap.seconds} for longer runs. */
class FullHeapTest {
    private static final String SECONDS = System.getProperty("gmp.heap.seconds", "1");

    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1", "Z"})
    void whileEverythingRuns(String collector) {
        Result r = new ChildJvm(FullHeapProgram.class).with("-Xmx48m", "-XX:+Use" + collector + "GC").run(SECONDS);
        assertEquals("broken [], sum 1000, left []\n", r.out(), () -> r.out() + r.err().lines()
                .filter(line -> !line.startsWith("SCHED") && !line.startsWith("  ")).toList());
        assertEquals(0, r.exit());
    }

    /** More Ps than there is memory for. */
    static final class Resize {
        private Resize() {
        }

        public static void main(String[] args) {
            Gmp gmp = Gmp.builder().procs(2).build();
            gmp.run(() -> { });
            Warm.up(0);
            int unused = gmp.setProcs(3);
            List<byte[]> ballast = new ArrayList<>(1 << 16);
            try {
                for (;;) {
                    ballast.add(new byte[1 << 16]);
                }
            } catch (OutOfMemoryError e) {
                try {
                    unused = gmp.setProcs(4096);
                } catch (OutOfMemoryError expected) {
                    unused = -1;
                }
            }
            ballast.clear();
            gmp.run(() -> { });
            System.out.printf("%d, %d, %d%n", unused, gmp.setProcs(1), gmp.setProcs(2));
            gmp.run(() -> { });
            System.exit(0);
        }
    }

    @Test
    void tooManyProcs() {
        Result r = new ChildJvm(Resize.class).with("-Xmx16m").run();
        assertEquals("-1, 3, 1\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
