package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** The deadlock report says for what a goroutine waits in a select. */
class SelectDeadlockTest {
    /** Goroutines wait for ever in all ways that a select knows. */
    static final class Program {
        private Program() {
        }

        /** The program. */
        public static void main(String[] args) {
            Gmp.main(() -> {
                Chan<Integer> none = null;
                Go.go(() -> Select.of().recv(none, v -> { }).run());
                Go.go(() -> Select.of().send(none, 1, () -> { }).run());
                Go.go(() -> Select.of().recv(none, v -> { }).send(none, 1, () -> { }).run());
                Go.go(() -> Select.of().recv(Chan.<Integer>make(), v -> { }).run());
                Go.go(() -> Select.of().sendLong(LongChan.make(), 1, () -> { }).run());
                Go.go(() -> Select.of().recv(Chan.<Integer>make(), v -> { }).recvLong(LongChan.make(), v -> { }).run());
                int unused = Select.of().run();
            });
        }
    }

    @Test
    void waitReasons() {
        ChildJvm.Result r = new ChildJvm(Program.class).run();
        assertEquals(2, r.exit(), r::toString);
        String[] reasons = {"select (no cases)", "chan receive (nil chan)", "chan send (nil chan)", "select", "chan receive",
            "chan send", "select"};
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n"), r::err);
        for (int i = 0; i < reasons.length; i++) {
            assertTrue(r.err().contains("goroutine " + (i + 1) + " [" + reasons[i] + "]:"), r::err);
        }
        assertTrue(r.err().contains("Select.run(Select.java"), r::err);
    }
}
