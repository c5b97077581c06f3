// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.util.function.BooleanSupplier;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.lock.Note;
import org.gmp4j.proc.LiveSchedulers;
import org.gmp4j.proc.Outside;
import org.gmp4j.report.Uncaught;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * Alarms set by threads that are no goroutines, and those left when a scheduler closes: one heap for the process, and one
 * daemon thread, started with the first of them. Rejected: the heap of some scheduler that happens to live, which may close
 * while the timer waits.
 *
 * <p>The thread clears its note, looks at the heap, and sleeps until the first alarm is due; a thread that adds an earlier one rings the
 * note after the push. While anything is in the heap, a goroutine may be readied from outside: {@link Outside#alarms}.
 */
final class OutsideTimers {
    /** Not made in a class initialiser: if one fails once, for want of memory, its class can never be used. */
    private static volatile @Nullable OutsideTimers made;

    private final TimerHeap heap;
    /** In a struct of its own: a futex word. */
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
            long pp = Mem.alloc(p.layout(), 1);
            long words = 0;
            boolean started = false;
            try {
                words = Mem.alloc(p.layout(), 1);
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
                    Mem.recycle(p.layout(), pp);
                    if (words != 0) {
                        Mem.recycle(p.layout(), words);
                    }
                }
            }
        }
        return made;
    }

    /** Takes over what a closed scheduler's P had. */
    static void takeOver(TimerHeap from) {
        JdkThreads.pin(); // The first starts the thread.
        try {
            OutsideTimers o = get();
            from.moveTo(o.heap);
            Note.ring(o.note);
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Adds an alarm; from any thread, with the timer's lock held. */
    static void add(Alarm a) {
        JdkThreads.pin(); // The first starts the thread.
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

    /**
     * What the thread does, and what tells whether alarms are set. No lambda: one for which there is no memory when it is first needed
     * can never be linked, and no later call could make the thread.
     */
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

    /** What the last shutdown hook does. */
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
            } catch (Throwable t) { // There may be no memory. The timers that are left belong to other users.
                Uncaught.reportHere(t);
            }
        }
    }

    /** Undoes what the thread inherited from the one that set the first timer: CPUs, a low priority. */
    private static boolean begin() {
        try {
            boolean _ = Inheritance.begin(0, 1);
            return true;
        } catch (OutOfMemoryError e) {
            return false; // Tried again when it next wakes up; meanwhile it serves all the same.
        }
    }

    private void step() {
        Note.clear(note); // Before the look: a thread that adds an alarm after that rings again.
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
