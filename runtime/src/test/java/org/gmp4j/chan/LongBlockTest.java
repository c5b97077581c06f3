// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LongBlockTest {
    /** Buffers, in a JVM whose direct buffers have no room. */
    static final class Buffers {
        private static final int PLACES = 10_000;

        private Buffers() {
        }

        public static void main(String[] args) throws InterruptedException {
            switch (args[0]) {
                case "closed" -> closed();
                case "dropped" -> dropped();
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("ok");
        }

        /** Closed and drained, in either order, and through a select: given back at once. */
        private static void closed() {
            for (int i = 0; i < 3_000; i++) {
                LongChan c = LongChan.make(PLACES);
                check(LongBlock.bytes() == 8L * PLACES);
                c.send(i);
                c.send(i + 1);
                if (i % 3 != 0) {
                    check(c.recv() == i);
                    c.close();
                    check(LongBlock.bytes() != 0);
                    long[] got = new long[1];
                    if (i % 3 == 1) {
                        Select.of().recv(null, v -> { }).recvLong(c, v -> got[0] = v).run();
                    } else {
                        got[0] = c.tryRecv();
                    }
                    check(got[0] == i + 1);
                } else {
                    c.recv();
                    c.recv();
                    c.close();
                }
                check(LongBlock.bytes() == 0 && !c.recvOk().ok() && c.cap() == PLACES);
            }
            LongBlock twice = LongBlock.of(LongChan.make(), PLACES);
            twice.free();
            twice.free(); // The last receiver and the close may both see that it is to go.
            check(LongBlock.bytes() == 0);
        }

        /** 2.4 GB, dropped unclosed: the collector is asked for what it does not see. */
        private static void dropped() throws InterruptedException {
            long most = 0;
            for (int i = 0; i < 30_000; i++) {
                LongChan c = LongChan.make(PLACES);
                c.send(i);
                most = Math.max(most, LongBlock.bytes());
            }
            System.gc();
            while (LongBlock.bytes() != 0) {
                System.gc();
                Thread.sleep(10);
            }
            check(most < 1L << 30);
        }

        private static void check(boolean b) {
            if (!b) {
                throw new AssertionError("bytes: " + LongBlock.bytes());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"closed", "dropped"})
    void buffersAreGivenBack(String what) {
        assertEquals(new ChildJvm.Result(0, "ok\n", ""),
                new ChildJvm(Buffers.class).with("-XX:MaxDirectMemorySize=1m", "-Xmx64m").run(what));
    }
}
