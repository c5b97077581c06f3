// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Futex;
import org.gmp4j.lock.Note;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One wake-up of a sleeping thread, from before the waker's call until the sleeper runs: two do it in turns. Nearly
 * all of it is the kernel's, so beside the runtime's stand a bare futex ({@code floor}) and {@code LockSupport}. For
 * regressions; percentiles are {@code gmp steal}'s. Each sleep has a time limit: a lost wake-up ends the benchmark.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(2)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class WakeBench {
    private static final int HERE = 0;
    private static final int THERE = 1;
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** Two sides that sleep and wake each other: the benchmark's thread, and one that answers it. */
    public abstract static class Pair {
        private final Thread other = new Thread(this::answer, "the other side");
        private volatile boolean over;

        abstract void wake(int side);

        /** Called by that side: until it was woken; false after too long. */
        abstract boolean sleep(int side);

        /** Starts the other side. */
        @Setup
        public void open() {
            other.setDaemon(true);
            other.start();
        }

        /** Ends it. */
        @TearDown
        public void close() throws InterruptedException {
            over = true;
            wake(THERE);
            other.join(LIMIT);
        }

        private void answer() {
            while (!over) {
                if (sleep(THERE) && !over) {
                    wake(HERE);
                }
            }
        }

        final void roundTrip() {
            wake(THERE);
            if (!sleep(HERE)) {
                throw new IllegalStateException("a wake-up was lost");
            }
        }

        final Thread other() {
            return other;
        }
    }

    /** By notes, as Ms do. */
    @State(Scope.Benchmark)
    public static class Notes extends Pair {
        private final long[] notes = words();

        @Override
        void wake(int side) {
            Note.wakeup(notes[side]);
        }

        @Override
        boolean sleep(int side) {
            if (!Note.sleep(notes[side], LIMIT.toNanos())) {
                return false;
            }
            Note.clear(notes[side]);
            return true;
        }
    }

    /** By two words and the two system calls. */
    @State(Scope.Benchmark)
    public static class Futexes extends Pair {
        private final long[] words = words();

        @Override
        void wake(int side) {
            Mem.INT.setVolatile(words[side], 1);
            int _ = Futex.wake(words[side], 1);
        }

        @Override
        boolean sleep(int side) {
            while (Mem.INT.getVolatile(words[side]) == 0) {
                if (Futex.await(words[side], 0, LIMIT.toNanos()) == Errno.ETIMEDOUT) {
                    return false;
                }
            }
            Mem.INT.setVolatile(words[side], 0);
            return true;
        }
    }

    /** By {@link LockSupport}. */
    @State(Scope.Benchmark)
    public static class Parks extends Pair {
        private final Thread here = Thread.currentThread();
        private volatile int turn = HERE;

        @Override
        void wake(int side) {
            turn = side;
            LockSupport.unpark(side == HERE ? here : other());
        }

        @Override
        boolean sleep(int side) {
            long end = System.nanoTime() + LIMIT.toNanos();
            while (turn != side) {
                LockSupport.parkNanos(LIMIT.toNanos());
                if (System.nanoTime() - end > 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /** A scheduler whose M sleeps. */
    @State(Scope.Benchmark)
    public static class Idle {
        private final long note = words()[HERE];
        private final Runnable answer = () -> Note.wakeup(note);
        private Gmp gmp;

        /** Starts it. */
        @Setup
        public void open() {
            gmp = Gmp.builder().procs(1).build();
        }

        /** Ends it. */
        @TearDown
        public void close() {
            gmp.close();
        }
    }

    /** The addresses of two words, far from each other. */
    private static long[] words() {
        return new long[] {M.parkAddress(Mem.alloc(Struct.M, 1)), M.parkAddress(Mem.alloc(Struct.M, 1))};
    }

    /** notewakeup and notesleep. */
    @Benchmark
    public void note(Notes notes) {
        notes.roundTrip();
    }

    /** The kernel's part. */
    @Benchmark
    public void floorFutex(Futexes futexes) {
        futexes.roundTrip();
    }

    /** The JDK's, of platform threads. */
    @Benchmark
    public void parkOfTheJdk(Parks parks) {
        parks.roundTrip();
    }

    /** An M is woken to run a goroutine, and that wakes the thread that started it: with all the scheduler does for it. */
    @Benchmark
    public void goroutine(Idle idle) {
        idle.gmp.go(idle.answer);
        if (!Note.sleep(idle.note, LIMIT.toNanos())) {
            throw new IllegalStateException("a wake-up was lost");
        }
        Note.clear(idle.note);
    }
}
