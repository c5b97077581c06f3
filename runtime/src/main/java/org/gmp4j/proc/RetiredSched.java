// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.struct.Mem;

/**
 * The {@code struct schedt} of a scheduler that has ended. It may still be used: a thread that readied one of the last goroutines may
 * get to wakep only now, and look at the counters; user code may call {@code go}, which is refused under the lock. All of them reach it
 * through the {@link Scheduler}, so the struct is recycled once that was collected. In compiled code the object may be collectable
 * while a thread still holds the address for its next few instructions: hence the wait of {@value #WAIT_NANOS} ns after the collection.
 */
final class RetiredSched extends PhantomReference<Scheduler> {
    private static final long WAIT_NANOS = 10_000_000_000L;
    private static final ReferenceQueue<Scheduler> COLLECTED = new ReferenceQueue<>();
    private static final Set<RetiredSched> ALL = ConcurrentHashMap.newKeySet();
    /** Collected, in that order; under its monitor. */
    private static final ArrayDeque<RetiredSched> WAITING = new ArrayDeque<>();

    private final long sched;
    private long since;

    private RetiredSched(Scheduler s) {
        super(s, COLLECTED);
        sched = s.sched;
    }

    /** The scheduler has ended. */
    static void add(Scheduler s) {
        ALL.add(new RetiredSched(s));
    }

    /** Recycles the structs that can be; called before a new one is made. */
    static void recycle() {
        recycle(WAIT_NANOS);
    }

    /**
     * The same with another wait, for tests.
     *
     * @return how many were recycled
     */
    static int recycle(long waitNanos) {
        int n = 0;
        synchronized (WAITING) {
            long now = System.nanoTime();
            while (COLLECTED.poll() instanceof RetiredSched r) {
                ALL.remove(r);
                r.since = now;
                WAITING.add(r);
            }
            for (; !WAITING.isEmpty() && now - WAITING.peek().since >= waitNanos; n++) {
                Mem.recycle(schedt.layout(), WAITING.remove().sched);
            }
        }
        return n;
    }
}
