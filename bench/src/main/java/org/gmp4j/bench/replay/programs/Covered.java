// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.function.Consumer;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Program;

/**
 * Programs of the real loop, with two goroutines and two Ms, that an exhaustive search covers wholly. A goroutine that has done its part
 * keeps its M for ever, so the other one needs another M. The clock stands, and no sleep ends early.
 */
final class Covered {
    private Covered() {
    }

    private static Program of(String name, String what, int procs, Consumer<Both> body) {
        return Program.ofLoop(name, what, () -> new Both(procs, body)).in("covered").waking(0, 0).covered();
    }

    static List<Program> all() {
        return List.of(
                of("covered-wakep", "a goroutine starts another one, for which an M is woken", 2, Covered::wakep),
                of("covered-ready", "a goroutine waits for another, which readies it", 2, Covered::ready),
                of("covered-sleep", "a thread starts a goroutine as the M that runs falls asleep", 2, Covered::sleep),
                of("covered-sleep-one", "the same, on one P", 1, Covered::sleep));
    }

    /** Two goroutines on two Ps. */
    private static final class Both extends OfLoop {
        private static final int N = 2;
        private final Consumer<Both> body;
        private final int procs;

        Both(int procs, Consumer<Both> body) {
            this.procs = procs;
            this.body = body;
        }

        @Override
        protected void begin() {
            start(procs);
            body.accept(this);
        }

        /** Does a part, and keeps the M. */
        void part() {
            done.incrementAndGet();
            stay();
        }

        @Override
        protected void end() {
            check(done.get() == N, "of " + N + " goroutines " + done.get() + " have run");
            check(count("M") <= N, "more Ms were made than there are Ps, though no goroutine blocks");
        }
    }

    private static void wakep(Both b) {
        b.go(() -> {
            Go.go(b::part);
            b.part();
        });
    }

    private static void ready(Both b) {
        b.go(() -> {
            Chan<Integer> c = Chan.make(0);
            Go.go(() -> {
                c.send(1);
                b.part();
            });
            check(c.recv() == 1, "another element came");
            b.part();
        });
    }

    private static void sleep(Both b) {
        b.go(() -> b.done.incrementAndGet());
        b.lane("go", () -> b.go(b::part));
    }
}
