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
import org.gmp4j.sysmon.CompilerRules.Share;
import org.gmp4j.sysmon.CompilerRules.Way;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link CompilerShare} and the rows of the table of {@link CompilerRules}. */
class CompilerShareTest {
    private static final long T = CompilerRules.EVERY;
    private static final long WAITED = T * CompilerRules.WAITED / 10 + 1;
    private static final int PROCS = 2;
    private static final long BUSY = PROCS * T * CompilerRules.BUSY / 10 + 1;

    private final CompilerRules rules = new CompilerRules(Share.LESS, true);

    private static CompilerRules.Look look(long longest, long wanted) {
        return new CompilerRules.Look(T, longest, T, wanted, T, PROCS, PROCS);
    }

    private static CompilerRules.Look needs(long needed) {
        return new CompilerRules.Look(T, 0, needed, BUSY, T, PROCS, PROCS);
    }

    private static void assertStays(CompilerRules rules, Share share, CompilerRules.Look look, long age) {
        assertEquals(share, rules.next(look, age));
    }

    @Test
    void onlyWhereItCanBeUndone() {
        for (boolean relative : new boolean[]{false, true}) {
            assertEquals(Way.BACK, CompilerRules.way(true, relative, false));
            assertEquals(Way.BACK, CompilerRules.way(true, relative, true));
            assertEquals(relative ? Way.RELATIVE : Way.NONE, CompilerRules.way(false, relative, true));
            assertEquals(Way.NONE, CompilerRules.way(false, relative, false));
        }
    }

    @Test
    void niceValues() {
        assertEquals(10, CompilerRules.nice(Share.LESS, 0));
        assertEquals(19, CompilerRules.nice(Share.LESS, 12));
        assertEquals(-10, CompilerRules.nice(Share.FIRST, 0));
        assertEquals(-20, CompilerRules.nice(Share.FIRST, -12));
        assertEquals(3, CompilerRules.nice(Share.EQUAL, 3));
        assertEquals(3, CompilerRules.nice(Share.OLD, 3));
    }

    @Test
    void unaskedOnOneCpuAlone() {
        assertEquals(Share.LESS, CompilerRules.atFirst(false, 1));
        assertEquals(Share.EQUAL, CompilerRules.atFirst(false, 2));
        assertEquals(Share.LESS, CompilerRules.atFirst(true, 2));
    }

    @Test
    void onlyBesideC1() {
        assertTrue(CompilerRules.hasBoth(2, 1));
        assertFalse(CompilerRules.hasBoth(2, 2), "no C1");
        assertFalse(CompilerRules.hasBoth(2, 0), "no C2");
    }

    /** From {@link Share#LESS} and from {@link Share#EQUAL}, with and without the right to it. */
    @Test
    void firstWhenC2StarvesBesideBusyPs() {
        for (Share share : new Share[] {Share.LESS, Share.EQUAL}) {
            for (boolean mayGoFirst : new boolean[] {false, true}) {
                CompilerRules rules = new CompilerRules(share, mayGoFirst);
                for (long t = T; t < CompilerRules.STARVED; t += T) {
                    assertStays(rules, share, look(WAITED, BUSY), t);
                }
                assertEquals(mayGoFirst ? Share.FIRST : Share.OLD, rules.next(look(WAITED, BUSY), CompilerRules.STARVED));
            }
        }
    }

    private CompilerRules first() {
        for (long t = T; t <= CompilerRules.STARVED; t += T) {
            var _ = rules.next(look(WAITED, BUSY), t);
        }
        return rules;
    }

    @Test
    void firstUntilC2IsDone() {
        CompilerRules rules = first();
        long looks = CompilerRules.FED / T;
        for (int i = 1; i < 3 * looks; i++) {
            assertStays(rules, Share.FIRST, needs(i % looks == 0 ? T / 4 : T / 4 - 1), CompilerRules.STARVED);
        }
        assertEquals(Share.OLD, rules.next(needs(T / 4 - 1), CompilerRules.STARVED));
    }

    @Test
    void firstForSomeTimeAtMost() {
        CompilerRules rules = first();
        long last = CompilerRules.STARVED + CompilerRules.LONGEST_FIRST;
        assertStays(rules, Share.FIRST, look(T, BUSY), last - 1);
        assertEquals(Share.OLD, rules.next(look(T, BUSY), last));
    }

    @Test
    void doneWhenTheProcessIsIdle() {
        CompilerRules rules = first();
        assertStays(rules, Share.FIRST, CompilerRules.Look.idle(CompilerRules.FED - 1), 2 * CompilerRules.STARVED);
        assertEquals(Share.OLD, rules.next(CompilerRules.Look.idle(1), 2 * CompilerRules.STARVED));
    }

    @Test
    void oneLookWithoutHungerBeginsAnew() {
        long looks = CompilerRules.STARVED / T;
        for (int i = 0; i < 3 * looks; i++) {
            assertStays(rules, Share.LESS, look(i % looks == 0 ? WAITED - 1 : WAITED, BUSY), i * T);
        }
    }

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
        assertEquals(WAITED + 1, l.needed(), "it ran for 1 ns");
        assertEquals(BUSY, l.process());
    }

    @Test
    void notWhileAPIsIdle() {
        for (long t = 0; t < 3 * CompilerRules.STARVED; t += T) {
            assertStays(rules, Share.LESS, look(T, BUSY - 1), t);
        }
    }

    @Test
    void oldWhereOthersTakeTheCpus() {
        CompilerRules.Look half = new CompilerRules.Look(T, WAITED, T, 0, T, 2, PROCS);
        CompilerRules.Look less = new CompilerRules.Look(T, WAITED, T, 0, T - 1, 2, PROCS);
        CompilerRules.Look idle = new CompilerRules.Look(T, WAITED - 1, T, 0, 0, 2, PROCS);
        for (int i = 0; i < 10; i++) {
            assertStays(rules, Share.LESS, half, i * T);
            assertStays(rules, Share.LESS, idle, i * T);
        }
        for (long t = T; t < CompilerRules.CROWDED; t += T) {
            assertStays(rules, Share.LESS, less, t); // Once by chance.
        }
        assertEquals(Share.OLD, rules.next(less, CompilerRules.CROWDED));
    }

    @Test
    void oldWhenC2HasWaitedForLongInAll() {
        for (long all = T - 1; all < CompilerRules.IN_ALL; all += T - 1) {
            assertStays(rules, Share.LESS, look(T - 1, 0), 0);
            assertStays(rules, Share.LESS, look(0, BUSY), 0); // Its waits need not follow each other.
        }
        assertEquals(Share.OLD, rules.next(look(T - 1, 0), 0));
    }

    @Test
    void looksOfManyThreadsAreRare() {
        assertEquals(T, CompilerRules.sleep(T / CompilerRules.LOOKING, false));
        assertEquals(CompilerRules.LOOKING * T, CompilerRules.sleep(T, false));
    }

    @Test
    void anIdleProcessIsSeldomLookedAt() {
        assertTrue(CompilerRules.isIdle(T / CompilerRules.IDLE - 1, T));
        assertFalse(CompilerRules.isIdle(T / CompilerRules.IDLE, T));
        assertEquals(CompilerRules.SELDOM, CompilerRules.sleep(T, true));
    }

    @Test
    void oldInTheEnd() {
        CompilerRules.Look idle = CompilerRules.Look.idle(T);
        assertStays(rules, Share.LESS, idle, CompilerRules.LONGEST - 1);
        assertEquals(Share.OLD, rules.next(idle, CompilerRules.LONGEST));
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
     * than it gets done, until C2 goes first. They end, and C2 gets its old share.
     */
    static final class Begun {
        private static final int RUNS = 20_000;

        private static volatile boolean ends;

        private Begun() {
        }

        public static void main(String[] args) throws IOException {
            int c2 = CompilerThreads.optimizing()[0];
            int usual = CompilerThreads.nice(c2);
            if (!CompilerThreads.setNice(0, CompilerRules.nice(Share.FIRST, usual)) || !CompilerThreads.setNice(0, usual)) {
                System.out.println("no right");
                return;
            }
            Gmp gmp = Gmp.makeDefault();
            await(c2, CompilerRules.nice(Share.LESS, usual));
            System.out.println("gives way");
            byte[] work;
            try (InputStream in = CompilerShareTest.class.getResourceAsStream("CompilerShareTest$Work.class")) {
                work = in.readAllBytes();
            }
            for (int i = 0; i < gmp.procs(); i++) {
                gmp.go(() -> computes(work));
            }
            int now = CompilerRules.nice(Share.LESS, usual);
            while (now == CompilerRules.nice(Share.LESS, usual)) {
                LockSupport.parkNanos(1_000_000);
                now = CompilerThreads.nice(c2);
            }
            System.out.println(now == usual ? "others take the CPUs" : "goes first by " + (usual - now));
            ends = true;
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
            while (!ends) {
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

    @Test
    void ofTheDefaultScheduler() {
        Result r = new ChildJvm(Begun.class).with("-XX:TieredStopAtLevel=4", "-Dgmp.default.compilers=yield").run();
        assertEquals(0, r.exit(), r::toString);
        assumeFalse(r.out().equals("no right\n"), "this process may not lower a nice value");
        assumeFalse(r.out().equals("gives way\nothers take the CPUs\nhas it back\n"), "the machine is busy");
        assertEquals("gives way\ngoes first by 10\nhas it back\n", r.out(), r::toString);
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
                set by hand: C2 10, C1 4
                """, r.out(), r::toString);
    }
}
