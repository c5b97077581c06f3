// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.gmp4j.ffi.gmp.schedt;

/**
 * The {@code struct schedt} of a scheduler that has ended. It may still be used: a thread that readied one of the last goroutines may
 * get to wakep only now, and look at the counters; user code may call {@code go}, which is refused under the lock. All of them reach it
 * through the {@code Scheduler}, so the struct is recycled once that was collected. In compiled code the object may be collectable
 * while a thread still holds the address for its next few instructions: hence the wait of {@value #WAIT_NANOS} ns after the collection.
 */
public final class RetiredSched extends PhantomReference<Object> {
    private static final long WAIT_NANOS = 10_000_000_000L;
    private static final ReferenceQueue<Object> COLLECTED = new ReferenceQueue<>();
    private static final Set<RetiredSched> ALL = ConcurrentHashMap.newKeySet();
    /** Collected, in that order; under its monitor. */
    private static final ArrayDeque<RetiredSched> WAITING = new ArrayDeque<>();

    private final long sched;
    private long since;

    private RetiredSched(Object owner, long sched) {
        super(owner, COLLECTED);
        this.sched = sched;
    }

    /** The scheduler {@code owner} has ended, and {@code sched} was its struct. */
    public static void add(Object owner, long sched) {
        ALL.add(new RetiredSched(owner, sched));
    }

    /** Recycles the structs that can be; called before a new one is made. */
    public static void recycle() {
        recycle(WAIT_NANOS);
    }

    /**
     * The same with another wait, for tests.
     *
     * @return how many were recycled
     */
    public static int recycle(long waitNanos) {
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
