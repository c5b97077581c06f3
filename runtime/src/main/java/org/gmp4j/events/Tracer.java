// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.gmp4j.ffi.Ticks;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.JdkWait;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * The execution tracer of one scheduler while tracing is on. It has a ring for each P, and one ring for all threads without a P.
 *
 * <p>Tracing is turned on and off with the world stopped. When an M gets a P, it checks whether the scheduler has a tracer, and puts the
 * P's ring into a plain field of its own ({@code sched.base.Machine.trace}). While tracing is off, each event costs only a test of that
 * field. While the world is stopped, only the M that stopped it may have a P, and that M checks again afterwards. So each M with a P has
 * the current value in its field, and after the stop that ends tracing no M writes to a P's ring. Ms without a P, sysmon, pollers and plain
 * threads write to {@link #outside} under a lock, under which they also see that tracing has ended.
 *
 * <p>Go gives each M its own buffers, marked with generations, so it need not stop the world at the end of a trace. Here there are only as
 * many rings as Ps, however many Ms block. A P's events need no lock, except a leaf lock once for each batch.
 */
public final class Tracer {
    /** The number of the ring of threads without a P. */
    public static final int OUTSIDE = 0xFFFF;

    /** The least number of batches. */
    private static final int LEAST_BATCHES = 16;

    /** The free and the full batches. */
    public final Batches batches;
    /** The names of places, and of the program's tasks and regions. */
    public final Names names = new Names();
    /** The start of the trace, in ticks. */
    public final long beganTicks;
    /** The start of the trace, a nanoTime. */
    public final long beganNanos;

    private final HeapMutex lock = new HeapMutex(LockRank.TRACE_OUTSIDE);
    private final @Nullable Lateness lateness;
    private final EventRing outside;
    private volatile @Nullable EventRing[] rings = new EventRing[0];
    private boolean closed;

    /**
     * Takes {@code bytes} of memory for the events of {@code procs} Ps.
     *
     * @param lateness not null to lose the oldest events when the memory is full; null to lose the newest ones
     */
    public Tracer(int procs, long bytes, @Nullable Lateness lateness) {
        this.lateness = lateness;
        beganTicks = Ticks.now();
        beganNanos = System.nanoTime();
        batches = new Batches((int) Math.max(bytes / Batch.BYTES, LEAST_BATCHES + procs), lateness != null);
        outside = new EventRing(OUTSIDE, batches, beganTicks, lateness);
        boolean _ = outside.open();
        prepare(procs);
        // Loads these classes now, because later there may be little memory or room on the stack.
        if (Ev.head(0, 0, 0) == names.site(this) || JdkWait.of(JdkState.Wait.NONE, null, null) != WaitReason.JDK) {
            throw new AssertionError();
        }
    }

    /** Makes rings for {@code procs} Ps. Only one thread at a time may call it. A P gets no ring when no batch is free. */
    public void prepare(int procs) {
        @Nullable EventRing[] old = rings;
        if (procs <= old.length) {
            return;
        }
        @Nullable EventRing[] grown = Arrays.copyOf(old, procs);
        for (int i = old.length; i < procs; i++) {
            EventRing r = new EventRing(i, batches, beganTicks, lateness);
            grown[i] = r.open() ? r : null;
        }
        rings = grown;
    }

    /** Returns the ring of a P; null when it has none. */
    public @Nullable EventRing ring(int p) {
        @Nullable EventRing[] all = rings;
        return p < all.length ? all[p] : null;
    }

    /** Makes threads without a P wait when they write events, or lets them continue. */
    public void silence(boolean on) {
        if (on) {
            lock.lock();
        } else {
            lock.unlock();
        }
    }

    /** Writes an event of a thread without a P of this scheduler. Any thread may call it. It takes a lock. */
    public void outside(int kind, int argument, long number, int detail) {
        lock.lock();
        if (!closed) {
            outside.event(kind, argument, number, detail);
        }
        lock.unlock();
    }

    /**
     * Writes an event of the program.
     *
     * @param ring the ring of the caller's P; null when the caller has none
     */
    public void user(@Nullable EventRing ring, int kind, long goid, int name, long task, long parent) {
        if (ring == null) {
            lock.lock();
            if (!closed) {
                write(outside, kind, goid, name, task, parent);
            }
            lock.unlock();
        } else {
            write(ring, kind, goid, name, task, parent);
        }
    }

    private static void write(EventRing ring, int kind, long goid, int name, long task, long parent) {
        if (task == 0) {
            ring.event(kind, 0, goid, name);
        } else {
            ring.wide(kind, goid, name, task, parent);
        }
    }

    /** Writes a message of the program. {@code ring} is the ring of the caller's P; null when the caller has none. */
    public void log(@Nullable EventRing ring, long goid, String message) {
        text(ring, Ev.LOG, goid, message.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes an event with a text in UTF-8. {@code ring} is the ring of the caller's P; null when the caller has none. */
    public void text(@Nullable EventRing ring, int kind, long goid, byte[] text) {
        if (ring == null) {
            lock.lock();
            if (!closed) {
                outside.text(kind, goid, text);
            }
            lock.unlock();
        } else {
            ring.text(kind, goid, text);
        }
    }

    /** Hands over the last batches of the rings. The world was stopped after tracing ended, so no M writes to them. */
    public void close() {
        lock.lock();
        closed = true;
        lock.unlock();
        outside.close();
        for (EventRing r : rings) {
            if (r != null) {
                r.close();
            }
        }
    }

    /** Frees the memory. Called after {@link #close}, when all events have been read. */
    public void release() {
        batches.release();
    }
}
