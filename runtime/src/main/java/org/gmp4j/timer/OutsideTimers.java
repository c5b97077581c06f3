package org.gmp4j.timer;

import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.lock.Note;
import org.gmp4j.proc.Uncaught;
import org.gmp4j.proc.Waiting;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;

/**
 * Alarms set by threads that are no goroutines, and those left when a scheduler closes: one heap for the process, and one
 * daemon thread, started with the first of them. Rejected: the heap of some scheduler that happens to live, which may close
 * while the timer waits.
 *
 * <p>The thread clears its note, looks at the heap, and sleeps until the first is due; who adds an earlier one rings the
 * note after the push. While anything is here, a goroutine may be readied from outside: {@link Waiting#alarms}.
 */
final class OutsideTimers {
    private static final TimerHeap HEAP = new TimerHeap(Mem.alloc(p.layout(), 1));
    /** In a struct of its own: a futex word. */
    private static final long NOTE = P.timersLockAddress(Mem.alloc(p.layout(), 1));

    static {
        Waiting.alarms(HEAP::busy);
        Thread thread = new Thread(null, OutsideTimers::loop, "gmp4j-timers", 0, false);
        thread.setDaemon(true);
        thread.start();
    }

    private OutsideTimers() {
    }

    /** Takes over what a closed scheduler's P had. */
    static void takeOver(TimerHeap from) {
        JdkThreads.pin(); // The first starts the thread.
        try {
            from.moveTo(HEAP);
            Note.ring(NOTE);
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Adds an alarm; from any thread, with the timer's lock held. */
    static void add(Alarm a) {
        JdkThreads.pin(); // The first starts the thread.
        try {
            boolean first;
            HEAP.lock();
            try {
                HEAP.push(a);
                first = P.timer0WhenAcquire(HEAP.pp) == a.when;
            } finally {
                HEAP.unlock();
            }
            if (first) {
                Note.ring(NOTE);
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    private static void loop() {
        try {
            boolean unused = Inheritance.begin(0, 1); // Whoever set the first timer may be pinned, or have a low priority.
        } catch (OutOfMemoryError e) {
            Uncaught.reportHere(e); // As it is it serves all the same.
        }
        for (;;) {
            try {
                step();
            } catch (Throwable t) { // No memory, say. The timers that are left are others'.
                Uncaught.reportHere(t);
            }
        }
    }

    private static void step() {
        Note.clear(NOTE); // Before the look: who adds after it rings again.
        long next = HEAP.next();
        long now = System.nanoTime();
        if (next == 0) {
            Note.sleep(NOTE);
        } else if (now < next) {
            Note.sleep(NOTE, next - now);
        } else {
            int unused = HEAP.run(now);
        }
    }
}
