// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
                int _ = Select.of().run();
            });
        }
    }

    @Test
    void waitReasons() {
        ChildJvm.Result r = new ChildJvm(Program.class).run();
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n"), r::err);
        List<String> reasons = new ArrayList<>();
        Matcher header = Pattern.compile("^goroutine \\d+ \\[(.*)]:$", Pattern.MULTILINE).matcher(r.err());
        while (header.find()) {
            reasons.add(header.group(1));
        }
        reasons.sort(null);
        assertEquals(List.of("chan receive", "chan receive (nil chan)", "chan send", "chan send (nil chan)", "select",
                "select", "select (no cases)"), reasons, r::err);
        assertTrue(r.err().contains("[select]:\n\torg.gmp4j.Select.run(Select.java"), r::err);
    }
}
