// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.gmp4j.testing.Structs;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** {@link Note} and {@link RuntimeMutex}. A lost wake-up shows as a test that does not end. */
public class LockStress {
    private static final long SHORT = 1_000;

    /** The wake-up comes before, while or after the sleeper goes to sleep; what was written before it is seen. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "woken, and sees it")
    @Outcome(expect = FORBIDDEN, desc = "does not see what was written before the wake-up")
    @State
    public static class Wakeup {
        private final long note = Structs.word();
        private int data;

        @Actor
        public void waker() {
            data = 1;
            Note.wakeup(note);
        }

        @Actor
        public void sleeper(I_Result r) {
            Note.sleep(note);
            r.r1 = data;
        }

        @Arbiter
        public void end() {
            Structs.freeWord(note);
        }
    }

    /** The sleeper's time may be up at the same moment: then the wake-up stays, else it was reported. */
    @JCStressTest
    @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "woken")
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "the time was up, then it was woken")
    @Outcome(expect = FORBIDDEN, desc = "the wake-up is lost")
    @State
    public static class TimedSleep {
        private final long note = Structs.word();

        @Actor
        public void waker() {
            Note.wakeup(note);
        }

        @Actor
        public void sleeper(ZZ_Result r) {
            r.r1 = Note.sleep(note, SHORT);
        }

        @Arbiter
        public void end(ZZ_Result r) {
            r.r2 = Note.woken(note);
            Structs.freeWord(note);
        }
    }

    /** Of many rings all are harmless, and the sleeper comes through. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "woken")
    @Outcome(expect = FORBIDDEN, desc = "not woken")
    @State
    public static class Ring {
        private final long note = Structs.word();

        @Actor
        public void one() {
            Note.ring(note);
        }

        @Actor
        public void two() {
            Note.ring(note);
        }

        @Actor
        public void sleeper(I_Result r) {
            Note.sleep(note);
            r.r1 = Note.woken(note) ? 1 : 0;
        }

        @Arbiter
        public void end() {
            Structs.freeWord(note);
        }
    }

    /** Two at a time in a section that is not atomic of itself; each sees what the other did. */
    @JCStressTest
    @Outcome(id = {"1, 2", "2, 1"}, expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(expect = FORBIDDEN, desc = "both at once, or one does not see the other's count")
    @State
    public static class Mutex {
        private final long word = Structs.word();
        private int count;

        private int locked() {
            RuntimeMutex.lock(word, LockRank.SCHED);
            int n = ++count;
            RuntimeMutex.unlock(word, LockRank.SCHED);
            return n;
        }

        @Actor
        public void one(II_Result r) {
            r.r1 = locked();
        }

        @Actor
        public void two(II_Result r) {
            r.r2 = locked();
        }

        @Arbiter
        public void end() {
            Structs.freeWord(word);
        }
    }

    /** Three, so that someone sleeps while another gives back: nobody is left asleep, and at the end the lock is free. */
    @JCStressTest
    @Outcome(id = "3, 0", expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(expect = FORBIDDEN, desc = "two at once, or the lock is still held")
    @State
    public static class MutexOfThree {
        private final long word = Structs.word();
        private int count;

        private void locked() {
            RuntimeMutex.lock(word, LockRank.SCHED);
            int n = count;
            Thread.onSpinWait();
            count = n + 1;
            RuntimeMutex.unlock(word, LockRank.SCHED);
        }

        @Actor
        public void one() {
            locked();
        }

        @Actor
        public void two() {
            locked();
        }

        @Actor
        public void three() {
            locked();
        }

        @Arbiter
        public void end(II_Result r) {
            r.r1 = count;
            r.r2 = RuntimeMutex.isLocked(word) ? 1 : 0;
            Structs.freeWord(word);
        }
    }

    /** tryLock takes a free lock, once. */
    @JCStressTest
    @Outcome(id = {"1, 0", "0, 1"}, expect = ACCEPTABLE, desc = "the other found it held")
    @Outcome(expect = FORBIDDEN, desc = "both, or none")
    @State
    public static class TryLock {
        private final long word = Structs.word();

        @Actor
        public void one(II_Result r) {
            r.r1 = RuntimeMutex.tryLock(word, LockRank.SCHED) ? 1 : 0;
        }

        @Actor
        public void two(II_Result r) {
            r.r2 = RuntimeMutex.tryLock(word, LockRank.SCHED) ? 1 : 0;
        }

        @Arbiter
        public void end() {
            Structs.freeWord(word);
        }
    }
}
