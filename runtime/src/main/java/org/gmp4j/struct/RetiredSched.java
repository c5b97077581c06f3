// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;


/**
 * The {@code struct schedt} of a scheduler that has ended. Threads may still use it. A thread that readied one of the last goroutines may
 * call wakep after the scheduler's end, and wakep reads the counters. User code may call {@code go}, which takes the struct's lock before
 * it fails. All threads reach the struct through the {@code Scheduler}, so the struct is recycled after the collection of that object. In
 * compiled code the object may be collectable while a thread uses the address in its next few instructions. Therefore {@value #WAIT_NANOS}
 * ns pass between collection and reuse.
 */
public final class RetiredSched extends PhantomReference<Object> {
    private static final long WAIT_NANOS = 10_000_000_000L;
    private static final ReferenceQueue<Object> COLLECTED = new ReferenceQueue<>();
    /** Keeps the references reachable, because otherwise they would not be enqueued. */
    private static final Set<RetiredSched> ALL = ConcurrentHashMap.newKeySet();
    /** The structs whose schedulers were collected, in the order of the collections. Guarded by its monitor. */
    private static final ArrayDeque<RetiredSched> WAITING = new ArrayDeque<>();

    private final long sched;
    private long collectedAt;

    private RetiredSched(Object owner, long sched) {
        super(owner, COLLECTED);
        this.sched = sched;
    }

    /** Records that the scheduler {@code owner}, with the struct {@code sched}, has ended. */
    public static void add(Object owner, long sched) {
        ALL.add(new RetiredSched(owner, sched));
    }

    /** Recycles the structs that may be reused. Called before a new struct is made. */
    public static void recycle() {
        recycle(WAIT_NANOS);
    }

    /**
     * Recycles the structs whose schedulers were collected at least {@code waitNanos} ago. Tests pass a shorter time.
     *
     * @return the number of recycled structs
     */
    public static int recycle(long waitNanos) {
        int n = 0;
        synchronized (WAITING) {
            long now = System.nanoTime();
            while (COLLECTED.poll() instanceof RetiredSched r) {
                ALL.remove(r);
                r.collectedAt = now;
                WAITING.add(r);
            }
            for (; !WAITING.isEmpty() && now - WAITING.peek().collectedAt >= waitNanos; n++) {
                Mem.recycle(Struct.SCHEDT, WAITING.remove().sched);
            }
        }
        return n;
    }
}
