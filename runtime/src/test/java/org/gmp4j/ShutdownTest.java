// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A goroutine calls {@code System.exit}, and a shutdown hook closes its scheduler. Each in a JVM of its own. */
class ShutdownTest {
    /** The program. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            Gmp gmp = Gmp.builder().procs(2).build();
            Chan<Integer> end = Chan.make();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                end.close();
                if (args[0].equals("limited")) {
                    String left = gmp.close(Duration.ofMinutes(1));
                    System.out.println("left: " + left.lines().filter(l -> l.startsWith("goroutine ")).count());
                } else {
                    gmp.close();
                }
                System.out.println("closed");
            }));
            gmp.go(() -> { // The hook waits for this one.
                Integer _ = end.recv();
                Go.sleep(Duration.ofMillis(50));
                System.out.println("worked");
            });
            switch (args[0]) {
                case "goroutine", "limited" -> gmp.go(() -> System.exit(7));
                case "thread" -> gmp.newThreadPerTaskExecutor().execute(() -> System.exit(7));
                case "many" -> {
                    for (int i = 0; i < 10; i++) {
                        gmp.go(() -> System.exit(7));
                    }
                }
                default -> System.exit(7); // No goroutine does: all end.
            }
            Thread.currentThread().join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"goroutine", "thread", "many", "limited", "outside"})
    void closeInAHook(String who) {
        Result r = new ChildJvm(Program.class).run(who);
        assertEquals(7, r.exit(), r::toString);
        String left = who.equals("limited") ? "left: 1\n" : "";
        assertEquals("worked\n" + left + "closed\n", r.out(), r::toString);
        assertTrue(r.err().isEmpty(), r::toString);
    }
}
