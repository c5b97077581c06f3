// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults that the scheduler once had, put back: each is found, shortened, and repeated by its schedule. */
class PastFaultsTest {
    private static final int SEEDS = 20_000;

    @TempDir
    Path dir;

    /**
     * The faults: an M that did not spin slept without a last look at the queues; the M in the poller slept for a timer that was stopped,
     * and nothing woke it; a goroutine that the JDK had woken was for a moment neither counted as waiting nor queued,
     * and a deadlock was reported; sysmon relied on an M that a thread was about to give up for want of threads, and tried no more; a heap
     * that was swept of stopped timers looked for a moment as if it had no other ones, and a deadlock was reported; a timer that was
     * stopped as its entry moved was counted for the wrong heap, and a deadlock was not reported.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "sched/FindRunnable.java | long gp = checkAgain(m); | long gp = wasSpinning ? checkAgain(m) : 0; | meet-ready"
                + " | spins for what does not come",
        "sched/upkeep/DeadlockSearch.java | s.netpoll.wake(s); | living = 0; | deadlock-timer | it goes on after 20000 steps",
        "sched/jdk/JdkReady.java | SchedLock.lock(s.sched); | countReady(s); SchedLock.lock(s.sched); long _ = s.config.deadlockDetection()"
                + " ? Schedt.addNjdkwait(s.sched, 1) : 0; | no-deadlock | fatal error: all goroutines are asleep - deadlock!",
        "sched/Newm.java | if (why == null) { | if (why != null) { why = null; } else { | no-threads | spins for what does not come",
        "timer/TimerHeap.java | int _ = zombies.addAndGet(kept - n); | hold(kept - n); int _ = zombies.addAndGet(kept - n); hold(n - kept);"
                + " | no-deadlock-alarm | fatal error: all goroutines are asleep - deadlock!",
        "timer/Alarm.java | if (STATE.compareAndSet(this, s, live ? to : null)) {"
                + " | state = live ? to : null; boolean set = true; if (set) { | deadlock-timer-moved | it goes on after 20000 steps"
    })
    void aFaultOfThePastIsFound(String file, String text, String with, String name, String why) throws IOException {
        isFound(file, text, with, name, why);
    }

    /** A heap for which a thread set a timer and stopped it looked for a moment as if it had no other ones. It takes many schedules. */
    @Tag("long")
    @Test
    void aRareFaultOfThePastIsFound() throws IOException {
        isFound("timer/TimerHeap.java", "held != before", "false", "no-deadlock-stopped",
                "fatal error: all goroutines are asleep - deadlock!");
    }

    private void isFound(String file, String text, String with, String name, String why) throws IOException {
        List<Program> all = Plant.in(dir, file, text, with);
        Program p = all.stream().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
        Run failed = null;
        int length = Engine.length(p);
        for (int seed = 0; seed < SEEDS && failed == null; seed++) {
            Run run = Engine.run(p, Search.strategy(Search.MIXED, seed, length));
            failed = run.failure == null ? null : run;
        }
        assertTrue(failed != null && failed.failure.why().endsWith(why), failed == null ? "not found" : failed.failure.text());
        Run again = Engine.repeat(p, Schedule.parse(new Schedule(failed.schedule()).toString()), new Trace());
        assertEquals(failed.failure.text(), again.failure.text());
    }
}
