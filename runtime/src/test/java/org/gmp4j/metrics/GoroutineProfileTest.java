// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPInputStream;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Goroutines by what they do; their labels; and the format of pprof, read by a decoder that shares nothing with the encoder. */
class GoroutineProfileTest {
    private static final int WAITING = 5;

    private static void waits(Chan<Integer> c) {
        Integer _ = c.recv();
    }

    /** A profile in which five wait in one place, one in another with labels that it inherited, and a third has not begun. */
    private static GoroutineProfile profile() {
        AtomicReference<GoroutineProfile> taken = new AtomicReference<>();
        try (TestGmp g = TestGmp.procs(1)) {
            Scheduler s = g.scheduler();
            g.run(() -> {
                Chan<Integer> c = Chan.make();
                for (int i = 0; i < WAITING; i++) {
                    Go.go(() -> waits(c));
                }
                Labels.run(Map.of("tenant", "blue", "path", "/x"), () -> {
                    assertEquals(Map.of("tenant", "blue", "path", "/x"), Labels.current());
                    Labels.run(Map.of("tenant", "red"), () -> Go.go(() -> {
                        Go.go(() -> assertEquals(Map.of("tenant", "red", "path", "/x"), Labels.current()));
                        c.send(7);
                    }));
                    assertEquals("blue", Labels.current().get("tenant"));
                });
                assertEquals(Map.of(), Labels.current());
                TestGmp.awaitOthers(); // One of the five has the 7, and its sender has ended.
                Labels.run(Map.of("tenant", "red"), () -> Go.go(() -> c.recv()));
                Go.gosched();
                TestGmp.awaitOthers();
                Go.go(new NotBegun());
                s.withWorldStopped(() -> taken.set(g.gmp.goroutines())); // Or sysmon might have it run meanwhile.
                c.close();
            });
        }
        return taken.get();
    }

    private static final class NotBegun implements Runnable {
        @Override
        public void run() {
            assertEquals(Map.of(), Labels.current());
        }
    }

    @Test
    void groups() {
        GoroutineProfile p = profile();
        assertEquals(WAITING - 1 + 1 + 1 + 1, p.total(), p::toString); // And the one that took it.
        GoroutineProfile.Group most = p.groups().getFirst();
        assertEquals(WAITING - 1, most.count());
        assertEquals("chan receive", most.state());
        assertEquals(Map.of(), most.labels());
        assertTrue(most.frames().stream().anyMatch(f -> f.getMethodName().equals("waits")), p::toString);
        String text = p.toString();
        assertTrue(text.startsWith("goroutine profile: total " + p.total() + "\n\n4 goroutines [chan receive]:\n\torg.gmp4j.Chan.recv("), text);
        assertTrue(text.contains("\n1 goroutine [chan receive]:\n\tlabels: {tenant=red}\n"), text);
        assertTrue(text.contains("\n1 goroutine [runnable]:\n\t(not started) " + NotBegun.class.getName() + "\n"), text);
        assertTrue(text.contains("\n1 goroutine [running]:\n"), text);
    }

    @Test
    void labelsAreForGoroutines() {
        assertEquals(Map.of(), Labels.current());
        assertThrows(IllegalStateException.class, () -> Labels.run(Map.of(), () -> { }));
    }

    @Test
    void labelsEndWithTheirGoroutine() {
        try (TestGmp g = TestGmp.procs(1)) {
            g.run(() -> {
                Labels.run(Map.of("tenant", "red"), () -> Go.go(() -> assertEquals("red", Labels.current().get("tenant"))));
                TestGmp.awaitOthers();
                Go.go(() -> assertEquals(Map.of(), Labels.current())); // On the same stack.
                TestGmp.awaitOthers();
            });
        }
    }

    @Test
    void pprof() throws IOException {
        Decoded d = new Decoded(new GZIPInputStream(new ByteArrayInputStream(profile().pprof())).readAllBytes());
        assertEquals("", d.strings.getFirst());
        assertEquals("goroutine count", d.type);
        assertEquals(4L, d.samples.getFirst().value);
        List<String> where = d.samples.getFirst().where.stream().map(id -> d.functionOf.get(d.functionIn.get(id))).toList();
        assertTrue(where.contains("org.gmp4j.metrics.GoroutineProfileTest.waits"), where::toString);
        assertEquals("org.gmp4j.Chan.recv", where.getFirst());
        assertEquals(List.of("state=chan receive"), d.samples.getFirst().labels);
        assertTrue(d.samples.stream().anyMatch(s -> s.labels.equals(List.of("state=chan receive", "tenant=red"))));
        assertEquals(7L, d.samples.stream().mapToLong(s -> s.value).sum());
    }

    private record Sample(List<Long> where, long value, List<String> labels) {
    }

    /** Fields of a message: of a number its value, of bytes these. */
    private record Field(int number, long value, byte[] bytes) {
    }

    private static final class Decoded {
        private final List<String> strings = new ArrayList<>();
        private final List<Sample> samples = new ArrayList<>();
        private final Map<Long, Long> functionIn = new java.util.HashMap<>();
        private final Map<Long, String> functionOf = new java.util.HashMap<>();
        private String type;

        Decoded(byte[] profile) {
            List<Field> all = fields(profile);
            all.stream().filter(f -> f.number == 6).forEach(f -> strings.add(new String(f.bytes, StandardCharsets.UTF_8)));
            for (Field f : all) {
                switch (f.number) {
                    case 1 -> type = string(f.bytes, 1) + " " + string(f.bytes, 2);
                    case 2 -> samples.add(new Sample(packed(bytes(f.bytes, 1)), packed(bytes(f.bytes, 2)).getFirst(),
                            fields(f.bytes).stream().filter(l -> l.number == 3)
                                    .map(l -> string(l.bytes, 1) + "=" + string(l.bytes, 2)).toList()));
                    case 4 -> functionIn.put(number(f.bytes, 1), number(bytes(f.bytes, 4), 1));
                    case 5 -> functionOf.put(number(f.bytes, 1), string(f.bytes, 2));
                    default -> assertTrue(f.number <= 14, "field " + f.number);
                }
            }
        }

        private String string(byte[] message, int field) {
            return strings.get((int) number(message, field));
        }

        private static long number(byte[] message, int field) {
            return fields(message).stream().filter(f -> f.number == field).findFirst().orElseThrow().value;
        }

        private static byte[] bytes(byte[] message, int field) {
            return fields(message).stream().filter(f -> f.number == field).findFirst().orElseThrow().bytes;
        }

        private static List<Long> packed(byte[] b) {
            List<Long> all = new ArrayList<>();
            for (int[] at = {0}; at[0] < b.length;) {
                all.add(varint(b, at));
            }
            return all;
        }

        private static List<Field> fields(byte[] b) {
            List<Field> all = new ArrayList<>();
            for (int[] at = {0}; at[0] < b.length;) {
                long tag = varint(b, at);
                if ((tag & 7) == 0) {
                    all.add(new Field((int) (tag >>> 3), varint(b, at), null));
                } else {
                    assertEquals(2, tag & 7, "wire type");
                    int n = (int) varint(b, at);
                    all.add(new Field((int) (tag >>> 3), 0, java.util.Arrays.copyOfRange(b, at[0], at[0] + n)));
                    at[0] += n;
                }
            }
            return all;
        }

        private static long varint(byte[] b, int[] at) {
            long v = 0;
            for (int shift = 0;; shift += 7) {
                byte next = b[at[0]++];
                v |= (next & 0x7fL) << shift;
                if (next >= 0) {
                    return v;
                }
            }
        }
    }
}
