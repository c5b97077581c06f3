// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.gmp4j.Go;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/**
 * Programs of timers that are stopped and set again: each fires as often as it was set and not stopped, not before it is due, and not as
 * late as another one. The timers of threads that are no goroutines are in a heap of their own, with a lane that watches it.
 */
final class Timers {
    /** What is far later than a timer is due that fires soon. */
    private static final long FAR = 2_000_000_000L;
    private static final long SOON = 20_000;

    private Timers() {
    }

    private static Program plain(String name, String what, Consumer<Plain> body) {
        return Program.of(name, "timer", what, () -> new Plain(body)).waking(0, 1);
    }

    private static Program loop(String name, String what, int procs, int parts, Consumer<Loop> body) {
        return Program.ofLoop(name, what, () -> new Loop(procs, parts, body)).in("timer").waking(0, 1);
    }

    static List<Program> all() {
        return List.of(
                plain("timer-again", "a timer that was stopped, and is set when its entry is gone, fires", Timers::again),
                plain("timer-at-due", "a timer is stopped and set again as it is due", Timers::atDue),
                plain("timer-behind-stopped", "stopped timers before and between others do not hold these up", Timers::behindStopped),
                plain("timers-of-two", "two threads set, stop and set their timers", Timers::ofTwo),
                loop("timer-again-of-g", "a timer of a goroutine is set again when its entry is gone", 2, 2, Timers::againOfG),
                loop("timer-behind-stopped-of-g", "stopped timers of goroutines do not hold others up", 2, 3, Timers::behindStoppedOfG),
                loop("sleeps-of-dead-p", "goroutines sleep on Ps that die", 3, 6, Timers::sleepsOfDeadP).in("procs"),
                loop("timers-of-dead-p", "stopped timers are on Ps that die while an M looks at all heaps", 3, 6, Timers::stoppedOfDeadP)
                        .in("procs"));
    }

    /** Sets a timer that does a part, not before it is due and not much later. */
    private static Timer after(Case t, long nanos) {
        long due = t.now() + nanos;
        return Time.afterFunc(Duration.ofNanos(nanos), () -> {
            check(t.now() >= due && t.now() < due + FAR / 2, t.now() < due ? "a timer has fired early" : "a timer has fired late");
            t.done();
        });
    }

    private static void fired(Plain t, int times) {
        t.end(() -> check(t.doneCount() == times, "timers have fired " + t.doneCount() + " times for " + times));
    }

    /** The thread that watches the heap has removed the stopped timer's entry by then. */
    private static void again(Plain t) {
        fired(t, 1);
        t.lane("sets", () -> {
            Timer timer = Time.afterFunc(Duration.ofNanos(SOON), t::done);
            check(timer.stop(), "the timer had fired");
            Case.spin(60);
            check(!timer.reset(Duration.ofNanos(SOON)), "a timer was set that was set already");
        });
    }

    private static void atDue(Plain t) {
        int[] expected = {3};
        t.end(() -> check(t.doneCount() == expected[0], "a timer has fired " + t.doneCount() + " times for " + expected[0]));
        t.lane("sets", () -> {
            Timer timer = Time.afterFunc(Duration.ofNanos(4_000), t::done);
            for (int i = 0; i < 2; i++) {
                Case.spin(7);
                expected[0] -= timer.stop() ? 1 : 0;
                expected[0] -= timer.reset(Duration.ofNanos(4_000)) ? 1 : 0;
            }
        });
    }

    /** The heap's entries are in the order of their coming, and the first of those that are left is not the earliest. */
    private static void behindStopped(Plain t) {
        fired(t, 4);
        t.lane("sets", () -> {
            Timer first = Time.afterFunc(Duration.ofNanos(SOON / 2), t::done);
            Timer second = Time.afterFunc(Duration.ofNanos(SOON / 2), t::done);
            Timer far = Time.afterFunc(Duration.ofNanos(2 * FAR), t::done);
            Timer _ = after(t, 3 * SOON);
            Timer _ = after(t, 2 * SOON);
            Timer _ = after(t, SOON);
            check(first.stop() && second.stop(), "the timer had fired");
            boolean _ = far.reset(Duration.ofNanos(2 * FAR));
        });
    }

    private static void ofTwo(Plain t) {
        fired(t, 2);
        t.lanes(2, "sets", i -> {
            Timer timer = Time.afterFunc(Duration.ofNanos(SOON), t::done);
            if (timer.stop()) {
                Case.spin(30 * i);
                boolean _ = timer.reset(Duration.ofNanos(SOON / 2));
            }
        });
    }

    private static void againOfG(Loop l) {
        l.go(() -> {
            Timer timer = Time.afterFunc(Duration.ofNanos(SOON), l::done);
            check(timer.stop(), "the timer had fired");
            Loop.sleep(2 * SOON);
            check(!timer.reset(Duration.ofNanos(SOON)), "a timer was set that was set already");
            l.done();
        });
    }

    private static void behindStoppedOfG(Loop l) {
        l.go(() -> {
            Timer first = Time.afterFunc(Duration.ofNanos(SOON), l::done);
            Timer second = Time.afterFunc(Duration.ofNanos(SOON), l::done);
            Timer far = Time.afterFunc(Duration.ofNanos(2 * FAR), l::done);
            Timer _ = after(l, 4 * SOON);
            Timer _ = after(l, 2 * SOON);
            check(first.stop() && second.stop(), "the timer had fired");
            boolean _ = far.reset(Duration.ofNanos(2 * FAR));
        });
    }

    /** Each goroutine sleeps on a P of its own, two of which die before they wake. */
    private static void sleepsOfDeadP(Loop l) {
        l.go(3, () -> {
            l.meet(3);
            Loop.sleep(4 * SOON);
            l.done();
        });
        l.lane("procs", () -> {
            l.until(3);
            Case.spin(10);
            int _ = StopTheWorld.setProcs(l.s, 1);
        });
    }

    private static void stoppedOfDeadP(Loop l) {
        l.go(3, () -> {
            Timer[] timers = new Timer[3];
            for (int i = 0; i < timers.length; i++) {
                timers[i] = Time.afterFunc(Duration.ofNanos(FAR), () -> { });
            }
            l.meet(3);
            for (Timer timer : timers) {
                check(timer.stop(), "the timer had fired");
            }
            Go.gosched();
            l.done();
        });
        l.lane("procs", () -> {
            l.until(3);
            int _ = StopTheWorld.setProcs(l.s, 1);
            int _ = StopTheWorld.setProcs(l.s, 3);
            int _ = StopTheWorld.setProcs(l.s, 1);
        });
    }
}
