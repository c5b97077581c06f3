// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.function.Supplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;

/** Programs of the real loop with two goroutines that an exhaustive search covers wholly: the clock stands, and no sleep ends early. */
final class Covered {
    private Covered() {
    }

    private static Program of(String name, String what, Supplier<Case> maker) {
        return Program.ofLoop(name, what, maker).in("covered").waking(0, 0).covered();
    }

    static List<Program> all() {
        return List.of(
                of("covered-wakep", "a goroutine starts another one, for which an M is woken", Covered::wakep),
                of("covered-meet", "the same, and they meet", Covered::meet),
                of("covered-ready", "a goroutine waits for another, which readies it", Covered::ready));
    }

    private static Case wakep() {
        return new Loop(2, 2, l -> l.go(() -> {
            Go.go(l::done);
            l.done();
        })).withoutBlocking();
    }

    private static Case meet() {
        return new Loop(2, 2, l -> l.go(() -> {
            Go.go(() -> l.meet(2));
            l.meet(2);
        })).withoutBlocking();
    }

    private static Case ready() {
        return new Loop(2, 2, l -> l.go(() -> {
            Chan<Integer> c = Chan.make(0);
            Go.go(() -> {
                c.send(1);
                l.done();
            });
            check(c.recv() == 1, "another element came");
            l.done();
        })).withoutBlocking();
    }
}
