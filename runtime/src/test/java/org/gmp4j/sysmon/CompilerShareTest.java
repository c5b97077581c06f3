// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.policy.CompilerRules;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link CompilerShare}. */
class CompilerShareTest {
    private static final long T = CompilerRules.EVERY;
    private static final long WAITED = T;
    private static final int PROCS = 2;
    private static final long BUSY = PROCS * T;

    private static CompilerShare.Compiler compiler(long waited, long ran, boolean ready) {
        return new CompilerShare.Compiler(waited, ran, ready);
    }

    /** The kernel counts the wait when it has ended. */
    @Test
    void aWaitThatLastsCounts() {
        CompilerShare.Compiler before = compiler(5, 3, true);
        assertEquals(T, compiler(5, 3, true).waitedSince(before, T), "it has not run since");
        assertEquals(0, compiler(5, 3, false).waitedSince(before, T), "it sleeps");
        assertEquals(0, compiler(5, 4, true).waitedSince(before, T), "it ran");
        assertEquals(T, compiler(5 + 3 * T, 4, true).waitedSince(before, T), "and got a CPU after several looks");
        assertEquals(0, compiler(-1, -1, false).waitedSince(before, T), "it has ended");
    }

    /** What it had is gone with it: the others' is not less for that. */
    @Test
    void anMThatEndsTakesNothingFromTheOthers() {
        CompilerShare.Had before = new CompilerShare.Had(Map.of(7, compiler(1, 1, true)), Map.of(1, T, 2, 9 * T), 10 * T);
        CompilerShare.Had now = new CompilerShare.Had(Map.of(7, compiler(1 + WAITED, 2, true)), Map.of(1, T + BUSY, 2, 0L), 10 * T + BUSY);
        CompilerRules.Look l = now.since(before, T, PROCS);
        assertEquals(BUSY, l.wanted());
        assertEquals(WAITED, l.waited());
        assertEquals(BUSY, l.process());
    }

    /** What C2 has to compile anew for each class loader that defines it. */
    public static final class Work {
        private Work() {
        }

        /** Sorts, maps and joins. */
        public static int run(int seed) {
            TreeMap<Integer, String> sorted = new TreeMap<>();
            for (int i = 0; i < 20; i++) {
                sorted.merge(i * seed % 7, "a" + i, String::concat);
            }
            int sum = 0;
            for (Map.Entry<Integer, String> e : sorted.entrySet()) {
                sum += e.getKey() * e.getValue().hashCode();
            }
            return sum;
        }
    }

    private static final class Loader extends ClassLoader {
        private final byte[] work;

        Loader(byte[] work) {
            super(CompilerShareTest.class.getClassLoader());
            this.work = work;
        }

        MethodHandle run() throws ReflectiveOperationException {
            Class<?> c = defineClass(Work.class.getName(), work, 0, work.length);
            return MethodHandles.publicLookup().unreflect(c.getMethod("run", int.class));
        }
    }

    /**
     * Makes the default scheduler, and waits until C2 has given way. Then each P has a goroutine that never waits, and C2 more to compile
     * than it gets done, until C2 has its share back.
     */
    static final class Begun {
        private static final int RUNS = 20_000;

        private Begun() {
        }

        public static void main(String[] args) throws IOException {
            int c2 = CompilerThreads.optimizing()[0];
            int usual = CompilerThreads.nice(c2);
            if (!CompilerThreads.setNice(0, usual + 1) || !CompilerThreads.setNice(0, usual)) {
                System.out.println("no right");
                return;
            }
            Gmp gmp = Gmp.makeDefault();
            await(c2, CompilerRules.giveWay(usual));
            System.out.println("gives way");
            byte[] work;
            try (InputStream in = CompilerShareTest.class.getResourceAsStream("CompilerShareTest$Work.class")) {
                work = in.readAllBytes();
            }
            for (int i = 0; i < gmp.procs(); i++) {
                gmp.go(() -> computes(work));
            }
            await(c2, usual);
            System.out.println("has it back");
            System.exit(0);
        }

        private static void await(int c2, int nice) {
            while (CompilerThreads.nice(c2) != nice) {
                LockSupport.parkNanos(1_000_000);
            }
        }

        private static void computes(byte[] work) {
            for (;;) {
                try {
                    MethodHandle run = new Loader(work).run();
                    for (int i = 0; i < RUNS; i++) {
                        int _ = (int) run.invokeExact(i);
                    }
                } catch (Throwable e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** A thread of the program whose name begins as those of compilers do is none. */
    @ParameterizedTest
    @ValueSource(strings = {"C1 Compactor", "C2 Completion-1", "JVMCI Client"})
    void aThreadOfTheProgramIsNoCompiler(String name) throws Exception {
        FutureTask<Boolean> isOne = new FutureTask<>(() -> IntStream.of(CompilerThreads.ids()).anyMatch(id -> id == OsThread.gettid()));
        Thread t = new Thread(isOne, name);
        t.start();
        t.join();
        assertFalse(isOne.get());
    }

    /** On a CPU that other threads keep busy, compilers wait more than they compile. */
    @Test
    void whatCompilersWantCountsTheirWaits() {
        long before = wanted();
        long all = CompilerThreads.wantedNanos();
        assertTrue(before > 0 && before <= all, () -> before + " > " + all);
        assertTrue(all <= wanted());
    }

    private static long wanted() {
        return IntStream.of(CompilerThreads.ids()).mapToLong(CompilerThreads::wantedNanos).sum();
    }

    @Test
    void ofTheDefaultScheduler() {
        Result r = new ChildJvm(Begun.class).with("-XX:TieredStopAtLevel=4", "-Dgmp.default.compilers=yield").run();
        assertEquals(0, r.exit(), r::toString);
        assumeFalse(r.out().equals("no right\n"), "this process may not lower a nice value");
        assertEquals("gives way\nhas it back\n", r.out(), r::toString);
    }

    @Test
    void onlyC2GivesWayAndInTheEndAllOthersMay() {
        Result r = new ChildJvm(CompilerShareProgram.class).with("-XX:TieredStopAtLevel=4", "-XX:-UseDynamicNumberOfCompilerThreads").run();
        assertEquals(0, r.exit(), r::toString);
        assertEquals("""
                gives way: C2 1, C1 0
                inherited: C2 1, C1 3
                in the end: C2 1, C1 4
                others 4
                new thread 4
                new process 4
                """, r.out(), r::toString);
    }
}
