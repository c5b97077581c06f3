// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.struct.Mem;

/** Programs of the runtime's locks and notes. */
final class Locks {
    private static final int LINE = 128;

    private Locks() {
    }

    /** A case in which lanes count inside a lock, each a few times. */
    abstract static class Counting extends Case {
        private final int lanes;
        private final int times;
        private final long word = Memory.map(LINE);

        Counting(int lanes, int times) {
            this.lanes = lanes;
            this.times = times;
        }

        abstract void lock();

        abstract void unlock();

        @Override
        protected final void begin() {
            for (int i = 0; i < lanes; i++) {
                lane("T" + i, () -> {
                    for (int k = 0; k < times; k++) {
                        lock();
                        Mem.LONG.set(word, Mem.LONG.get(word) + 1);
                        unlock();
                    }
                });
            }
        }

        @Override
        protected final void end() {
            check(Mem.LONG.get(word) == (long) lanes * times, "two threads were in the lock: " + Mem.LONG.get(word) + " of "
                    + lanes * times + " were counted");
        }
    }

    /** {@link RuntimeMutex}. */
    static final class Runtime extends Counting {
        private final long lock = Memory.map(LINE);

        Runtime(int lanes, int times) {
            super(lanes, times);
        }

        @Override
        void lock() {
            RuntimeMutex.lock(lock, LockRank.SCHED);
        }

        @Override
        void unlock() {
            RuntimeMutex.unlock(lock, LockRank.SCHED);
        }
    }

    /** {@link HeapMutex}. */
    static final class OnHeap extends Counting {
        private final HeapMutex lock = new HeapMutex(LockRank.SEMA);

        OnHeap(int lanes, int times) {
            super(lanes, times);
        }

        @Override
        void lock() {
            lock.lock();
        }

        @Override
        void unlock() {
            lock.unlock();
        }
    }

    /** One thread sleeps on a note and clears it, another wakes it; twice, handing the turn back by a second note. */
    static final class Notes extends Case {
        private final long there = Memory.map(LINE);
        private final long back = Memory.map(LINE);
        private final long data = Memory.map(LINE);

        @Override
        protected void begin() {
            lane("sleeps", () -> {
                for (int i = 1; i <= 2; i++) {
                    Note.sleep(there);
                    check(Mem.LONG.getOpaque(data) == i, "the sleeper was let through before it was woken");
                    Note.clear(there);
                    Note.wakeup(back);
                }
            });
            lane("wakes", () -> {
                for (int i = 1; i <= 2; i++) {
                    Mem.LONG.setOpaque(data, i);
                    Note.wakeup(there);
                    Note.sleep(back);
                    Note.clear(back);
                }
            });
        }

        @Override
        protected void end() {
            check(Mem.LONG.get(data) == 2, "not both turns were taken");
        }
    }

    /** A sleep with a limit: a wake-up that comes as the time is up is either seen by this sleep or left for the next. */
    static final class Limited extends Case {
        private final long note = Memory.map(LINE);
        private boolean woken;

        @Override
        protected void begin() {
            lane("sleeps", () -> {
                if (!Note.sleep(note, 1_000)) {
                    Note.sleep(note);
                }
                woken = true;
                Note.clear(note);
            });
            lane("wakes", () -> Note.wakeup(note));
        }

        @Override
        protected void end() {
            check(woken && !Note.woken(note), "the wake-up is lost");
        }
    }

    /** A note that several threads ring. */
    static final class Rings extends Case {
        private final long note = Memory.map(LINE);
        private final long work = Memory.map(LINE);
        private final long done = Memory.map(LINE);

        @Override
        protected void begin() {
            lane("serves", () -> {
                while (Mem.INT.getVolatile(done) < 2) {
                    Note.sleep(note);
                    Note.clear(note);
                    int _ = Mem.INT.getAndAdd(done, Mem.INT.getAndSet(work, 0));
                }
            });
            for (int i = 0; i < 2; i++) {
                lane("rings" + i, () -> {
                    int _ = Mem.INT.getAndAdd(work, 1);
                    Note.ring(note);
                });
            }
        }

        @Override
        protected void end() {
            check(Mem.INT.get(done) == 2, "work was left");
        }
    }

    /** A second wake-up of a note is an error that is noticed. */
    static final class Doubled extends Case {
        private final long note = Memory.map(LINE);
        private final AtomicInteger noticed = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();

        @Override
        protected void begin() {
            lane("sleeps", () -> Note.sleep(note));
            for (int i = 0; i < 2; i++) {
                lane("wakes" + i, () -> {
                    try {
                        Note.wakeup(note);
                    } catch (org.gmp4j.struct.Throw t) {
                        noticed.incrementAndGet();
                    }
                    ended.incrementAndGet();
                });
            }
        }

        @Override
        protected void end() {
            check(ended.get() == 2 && noticed.get() == 1, "a wake-up that was done twice was not noticed");
        }
    }
}
