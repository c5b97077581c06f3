// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What the live page knows of the time before it was opened. */
class HistoryTest {
    private static final int BYTES = 1_000;
    private static final int MOST = 300;

    private static String all(History h) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            h.writeTo(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString(UTF_8);
    }

    /** The ring beside a list, with readings of all lengths, also such as are longer than the ring. */
    @Test
    void theOldestMakeRoom() {
        History h = new History(() -> "", BYTES);
        assertEquals("[]", all(h));
        h.add("before it was opened");
        h.open();
        ArrayDeque<String> model = new ArrayDeque<>();
        Random random = new Random(1);
        int used = 0;
        for (int i = 0; i < 5_000; i++) {
            String reading = (i + "\u00b5").repeat(1 + random.nextInt(i % 3 == 0 ? 180 : 10));
            int length = reading.getBytes(UTF_8).length;
            h.add(reading);
            if (length <= BYTES) {
                while (used + length > BYTES || model.size() == MOST) {
                    used -= model.removeFirst().getBytes(UTF_8).length;
                }
                model.addLast(reading);
                used += length;
            }
            assertEquals("[" + String.join(",", model) + "]", all(h));
        }
        for (int i = 0; i < 2 * MOST; i++) {
            h.add("x");
        }
        assertEquals("[" + "x,".repeat(MOST - 1) + "x]", all(h));
        h.stop();
        h.stop();
        assertEquals("[]", all(h));
        h.add("after it was closed");
        assertEquals("[]", all(h));
    }

    /**
     * A client gets each reading as it reads on, and no copy of all of them. It gets what was there when it asked, but for what newer
     * readings have replaced meanwhile.
     */
    @Test
    void aSlowClient() throws IOException {
        History h = new History(() -> "", BYTES);
        h.open();
        for (int i = 0; i < MOST; i++) {
            h.add("" + i);
        }
        List<String> written = new ArrayList<>();
        h.writeTo(new OutputStream() {
            @Override
            public void write(int b) {
                written.add("" + (char) b);
            }

            @Override
            public void write(byte[] b, int from, int length) {
                written.add(new String(b, from, length, UTF_8));
                if (written.size() < MOST) {
                    h.add("new " + written.size());
                    h.add("newer " + written.size());
                }
            }
        });
        assertEquals("[0,2,4,6,8", String.join("", written.subList(0, 10)));
        String all = String.join("", written);
        assertTrue(all.endsWith("]") && !all.contains("new"), all);
        assertEquals(written.size(), all.chars().filter(c -> c == ',').count() * 2 + 3, all);
        h.stop();
        assertEquals("[]", all(h));
    }

    /** A reading that finds no memory is left out, and the next one is taken. An interrupt does not keep the thread from its sleep. */
    @Test
    void itsThreadGoesOn() throws InterruptedException {
        AtomicInteger n = new AtomicInteger();
        AtomicBoolean interrupted = new AtomicBoolean();
        History h = new History(() -> {
            int reading = n.incrementAndGet();
            if (reading == 1) {
                throw new OutOfMemoryError("of the test");
            } else if (reading == 2) {
                Thread.currentThread().interrupt();
                throw new NoClassDefFoundError("of the test");
            }
            interrupted.compareAndSet(false, Thread.currentThread().isInterrupted());
            return "" + reading;
        }, BYTES);
        h.start();
        while (!all(h).startsWith("[3,4")) {
            Thread.sleep(10);
        }
        h.stop();
        assertFalse(interrupted.get());
    }

    @Test
    void aBriefReading() {
        try (TestGmp g = TestGmp.procs(3)) {
            String brief = Snapshots.brief();
            assertTrue(brief.contains("{\"name\":\"" + g.scheduler().label() + "\",\"metrics\":{\"/cpu/"), brief);
            assertTrue(brief.contains("\"/sched/runqueue/local:goroutines\":[") && brief.contains("\"/sched/latencies:seconds\":["), brief);
            assertFalse(brief.contains("/sched/steals/moved:goroutines") || brief.contains("states"), brief);
            assertTrue(brief.endsWith("}}]}"), brief);
        }
    }
}
