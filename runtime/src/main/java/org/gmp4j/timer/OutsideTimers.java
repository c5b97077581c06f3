// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.util.function.BooleanSupplier;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.lock.Note;
import org.gmp4j.report.Uncaught;
import org.gmp4j.sched.base.Outside;
import org.gmp4j.sched.life.LiveSchedulers;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Struct;
import org.jspecify.annotations.Nullable;

/**
 * The alarms of threads that are not goroutines, and the alarms that remain when a scheduler closes. The process has one heap for them, and
 * one daemon thread, which starts with the first alarm. Rejected: the heap of a scheduler, which may close while the timer waits.
 *
 * <p>The thread clears its note, reads the heap's first time, and sleeps until that alarm is due. A thread that adds an earlier alarm
 * pushes it and then wakes this thread. While an alarm is in the heap, it may ready a goroutine: {@link Outside#alarms}.
 */
final class OutsideTimers {
    /** The object is not made in a class initialiser, because an initialiser that fails once, for lack of memory, fails for ever. */
    private static volatile @Nullable OutsideTimers made;

    private final TimerHeap heap;
    /** The address of the thread's note: a futex word in an otherwise unused struct. */
    private final long note;

    private OutsideTimers(long pp, long words) {
        heap = new TimerHeap(pp);
        note = P.timersLockAddress(words);
    }

    private static OutsideTimers get() {
        OutsideTimers o = made;
        return o == null ? make() : o;
    }

    private static synchronized OutsideTimers make() {
        if (made == null) {
            long pp = Mem.alloc(Struct.P, 1);
            long words = 0;
            boolean started = false;
            try {
                words = Mem.alloc(Struct.P, 1);
                OutsideTimers o = new OutsideTimers(pp, words);
                Serving serving = new Serving(o);
                Waking waking = new Waking(o.note);
                Thread thread = new OwnThread(serving, "gmp4j-timers");
                thread.start();
                started = true;
                Outside.alarms(serving);
                LiveSchedulers.timers(waking);
                made = o;
            } finally {
                if (!started) {
                    Mem.recycle(Struct.P, pp);
                    if (words != 0) {
                        Mem.recycle(Struct.P, words);
                    }
                }
            }
        }
        return made;
    }

    /** Takes over the entries of a closed scheduler's P. */
    static void takeOver(TimerHeap from) {
        JdkThreads.pin(); // The first call starts the thread, under a monitor.
        try {
            OutsideTimers o = get();
            from.moveTo(o.heap);
            Note.ring(o.note);
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Adds an alarm. May be called on any thread, with the timer's lock held. */
    static void add(Alarm a) {
        JdkThreads.pin(); // See takeOver.
        try {
            OutsideTimers o = get();
            boolean first;
            o.heap.lock();
            try {
                o.heap.push(a);
                first = P.TIMER0WHEN.getAcquire(o.heap.pp) == a.when;
            } finally {
                o.heap.unlock();
            }
            if (first) {
                Note.ring(o.note);
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** The task of the thread. It also returns whether alarms are set. */
    private record Serving(OutsideTimers of) implements Runnable, BooleanSupplier {
        @Override
        public void run() {
            of.loop();
        }

        @Override
        public boolean getAsBoolean() {
            return of.heap.busy();
        }
    }

    /** Wakes the thread. Run by the last shutdown hook. */
    private record Waking(long note) implements Runnable {
        @Override
        public void run() {
            Futex.wake(note, 1);
        }
    }

    private void loop() {
        boolean begun = false;
        for (;;) {
            try {
                begun = begun || begin();
                step();
            } catch (Throwable t) { // There may be no memory. The thread goes on, because the other timers belong to other users.
                Uncaught.reportHere(t);
            }
        }
    }

    /** Gives the thread the CPUs and the priority of the process, instead of those of the thread that started it. */
    private static boolean begin() {
        try {
            boolean _ = Inheritance.begin(0, 1);
            return true;
        } catch (OutOfMemoryError e) {
            return false; // The thread runs timers anyway. It tries again when it next wakes up.
        }
    }

    private void step() {
        Note.clear(note); // Cleared before the heap is read. So if a thread adds an alarm after the read, its wake-up is not lost.
        long next = heap.next();
        long now = System.nanoTime();
        if (next == 0) {
            Note.sleep(note);
        } else if (now < next) {
            Note.sleep(note, next - now);
        } else {
            int _ = heap.run(now);
        }
    }
}
