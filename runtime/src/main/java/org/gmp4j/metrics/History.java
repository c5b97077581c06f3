// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.gmp4j.stack.OwnThread;
import org.jspecify.annotations.Nullable;

/**
 * The readings of the last five minutes, so that a page shows them when it is opened. From {@link #start} to {@link #stop} a thread takes a
 * reading each second. The readings are in an off-heap ring of fixed size. If many schedulers or Ps make a reading long, the ring holds
 * fewer readings. An answer to a client has only one reading on the heap at a time, so slow clients cannot fill the heap. Thread-safe.
 */
final class History implements WebServer.Background {
    private static final int BYTES = 8 << 20;
    private static final int MOST = 300;
    private static final long EVERY_NANOS = 1_000_000_000;

    private final Supplier<String> reading;
    private final int bytes;
    private final Thread thread = new OwnThread(this::loop, "gmp-dashboard-history");
    private volatile boolean over;
    /** The lengths of the readings in the ring, the oldest first. This and the fields below are guarded by the monitor. */
    private final ArrayDeque<Integer> lengths = new ArrayDeque<>(MOST); // With this size it never grows.
    private @Nullable Arena arena;
    private MemorySegment ring = MemorySegment.NULL;
    /** The offset in the ring at which the next reading begins. */
    private int end;
    /** The length of all readings together. */
    private int used;
    /** The number of readings that were added so far. Readings are numbered from 0. */
    private long added;

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
            } catch (VirtualMachineError | LinkageError e) { // There was too little memory or stack, now or at the first use of a class.
                // This reading is left out.
            }
            boolean _ = Thread.interrupted(); // An interrupt would end each park.
            long until = System.nanoTime() + EVERY_NANOS;
            for (long left = EVERY_NANOS; left > 0 && !over; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }

    /** Adds a reading, unless it is larger than the ring. If there is no room, it replaces the oldest readings. */
    synchronized void add(String json) {
        byte[] b = json.getBytes(UTF_8);
        if (arena == null || b.length > bytes) {
            return;
        }
        while (lengths.size() == MOST || used + b.length > bytes) {
            used -= lengths.removeFirst();
        }
        lengths.addLast(b.length); // This comes first, because it may throw for lack of memory.
        int first = Math.min(b.length, bytes - end);
        MemorySegment.copy(b, 0, ring, ValueLayout.JAVA_BYTE, end, first);
        MemorySegment.copy(b, first, ring, ValueLayout.JAVA_BYTE, 0, b.length - first);
        end = (end + b.length) % bytes;
        used += b.length;
        added++;
    }

    /** Writes the readings as an array in JSON, the oldest first. Leaves out a reading if a newer one replaces it before it is written. */
    void writeTo(OutputStream out) throws IOException {
        out.write('[');
        long last = added() - 1;
        boolean first = true;
        for (Entry r = from(0); r != null && r.number <= last; r = from(r.number + 1)) {
            if (!first) {
                out.write(',');
            }
            out.write(r.json);
            first = false;
        }
        out.write(']');
    }

    private synchronized long added() {
        return added;
    }

    /** @param number the reading's number: see {@link #added} */
    private record Entry(long number, byte[] json) {
    }

    /**
     * Returns the reading with this number. If that reading was replaced, returns the oldest reading. Returns null if there is no such
     * reading yet.
     */
    private synchronized @Nullable Entry from(long number) {
        long n = added - lengths.size();
        int at = Math.floorMod(end - used, bytes);
        for (int length : lengths) {
            if (n >= number) {
                byte[] json = new byte[length];
                int first = Math.min(length, bytes - at);
                MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, at, json, 0, first);
                MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, 0, json, first, length - first);
                return new Entry(n, json);
            }
            n++;
            at = (at + length) % bytes;
        }
        return null;
    }
}
