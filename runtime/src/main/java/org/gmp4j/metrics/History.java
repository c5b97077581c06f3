// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.gmp4j.stack.OwnThread;
import org.jspecify.annotations.Nullable;

/**
 * The readings of the last five minutes, so that a page that is opened later shows what was before. From {@link #start} to {@link #stop}
 * a thread takes one a second. They are in a ring off-heap, whose size does not change: where many schedulers or Ps make the readings long,
 * there are fewer of them. Thread-safe.
 */
final class History implements WebServer.Background {
    private static final int BYTES = 8 << 20;
    private static final int MOST = 300;
    private static final long EVERY_NANOS = 1_000_000_000;

    private final Supplier<String> reading;
    private final int bytes;
    private final Thread thread = new OwnThread(this::loop, "gmp-dashboard-history");
    private volatile boolean over;
    /** The lengths of the readings in the ring, the oldest first. This and the rest are guarded by the monitor. */
    private final ArrayDeque<Integer> lengths = new ArrayDeque<>(MOST); // So it does not grow.
    private @Nullable Arena arena;
    private MemorySegment ring = MemorySegment.NULL;
    /** Where the next reading begins. */
    private int end;
    /** The length of all readings. */
    private int used;

    /** @param reading takes a reading, in JSON */
    History(Supplier<String> reading) {
        this(reading, BYTES);
    }

    History(Supplier<String> reading, int bytes) {
        this.reading = reading;
        this.bytes = bytes;
    }

    @Override
    public void start() {
        open();
        thread.start();
    }

    synchronized void open() {
        arena = Arena.ofShared();
        ring = arena.allocate(bytes);
    }

    @Override
    public void stop() {
        over = true;
        LockSupport.unpark(thread);
        close();
    }

    private synchronized void close() {
        if (arena != null) {
            arena.close();
            arena = null;
            lengths.clear();
            used = 0;
        }
    }

    private void loop() {
        while (!over) {
            try {
                add(reading.get());
            } catch (VirtualMachineError | LinkageError e) { // Of memory, of stack, or of a class whose first use found none.
                // One reading less.
            }
            boolean _ = Thread.interrupted(); // An interrupt would end each park.
            long until = System.nanoTime() + EVERY_NANOS;
            for (long left = EVERY_NANOS; left > 0 && !over; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }

    /** Adds a reading, in place of the oldest ones if there is no room. */
    synchronized void add(String json) {
        byte[] b = json.getBytes(UTF_8);
        if (arena == null || b.length > bytes) {
            return;
        }
        while (lengths.size() == MOST || used + b.length > bytes) {
            used -= lengths.removeFirst();
        }
        lengths.addLast(b.length); // First: if this finds no memory, nothing has changed.
        int first = Math.min(b.length, bytes - end);
        MemorySegment.copy(b, 0, ring, ValueLayout.JAVA_BYTE, end, first);
        MemorySegment.copy(b, first, ring, ValueLayout.JAVA_BYTE, 0, b.length - first);
        end = (end + b.length) % bytes;
        used += b.length;
    }

    /** Returns all readings as an array in JSON, the oldest first. */
    synchronized byte[] all() {
        byte[] all = new byte[Math.max(2, used + lengths.size() + 1)];
        int n = 0;
        int at = Math.floorMod(end - used, bytes);
        for (int length : lengths) {
            all[n++] = ','; // The first one makes room for the bracket.
            int first = Math.min(length, bytes - at);
            MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, at, all, n, first);
            MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, 0, all, n + first, length - first);
            n += length;
            at = (at + length) % bytes;
        }
        all[0] = '[';
        all[all.length - 1] = ']';
        return all;
    }
}
